// The neighbour's z is read while the neighbour writes y and z.
// expect: racy
// finding A: data-race intra-group global bodies
kernel void drift(global float4 *bodies, global float *depth) {
    int i = get_local_id(0), n = get_local_size(0);
    depth[i] = bodies[(i + 1) % n].xz.y; // <- A
    bodies[i].yz = (float2)(1.0f, i + 2.0f); // <- A
}
