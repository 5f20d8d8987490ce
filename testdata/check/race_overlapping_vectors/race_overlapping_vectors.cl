// Vectors of four at a distance of two: each store covers half of its neighbour's.
// expect: racy
// finding A: data-race intra-group global out
kernel void overlap(global float *out) {
    size_t i = get_global_id(0);
    vstore4((float4)(i, i + 1, i + 2, i + 3), 0, out + 2 * i); // <- A
}
