// Every body reads the masses (w) of all others, while each of them moves (x, y and z).
// expect: clean all-interleavings
kernel void drift(global float4 *bodies, global const float4 *pull, int n) {
    int i = get_global_id(0);
    float mass = 0.0f;
    for (int j = 0; j < n; j++)
        mass += bodies[j].w;
    bodies[i].xyz += pull[i].xyz * mass;
    bodies[i].x *= 0.5f;
}
