// The neighbour's vector is copied as a whole, although only its w is needed, while the neighbour writes x.
// expect: racy
// finding A: data-race intra-group global bodies
kernel void drift(global float4 *bodies, global float *weight) {
    int i = get_local_id(0), n = get_local_size(0);
    float4 other = bodies[(i + 1) % n]; // <- A
    weight[i] = other.w;
    bodies[i].x = i; // <- A
}
