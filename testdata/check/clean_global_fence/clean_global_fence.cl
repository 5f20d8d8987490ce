// What is exchanged lies in global memory, and so says the barrier.
// expect: clean all-interleavings
kernel void rotate_left(global int *tmp, global const int *in, global int *out) {
    size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    tmp[i] = in[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = tmp[i - l + (l + 1) % n];
}
