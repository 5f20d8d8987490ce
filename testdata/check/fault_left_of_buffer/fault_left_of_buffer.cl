// The left neighbour of element 0.
// expect: memory-fault
// finding A: out-of-bounds global in
kernel void differences(global const int *in, global int *out) {
    int i = (int)get_global_id(0);
    out[i] = in[i] - in[i - 1]; // <- A
}
