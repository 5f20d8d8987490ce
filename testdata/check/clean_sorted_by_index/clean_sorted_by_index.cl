// A permutation in a buffer says where each item writes: no two write the same element.
// expect: clean all-interleavings
kernel void scatter(global const int *in, global const int *to, global int *out) {
    size_t i = get_global_id(0);
    out[to[i]] = in[i];
}
