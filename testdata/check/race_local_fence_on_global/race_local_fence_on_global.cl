// The barrier orders local memory, but what is exchanged lies in global memory.
// expect: racy
// finding A: data-race intra-group global tmp
// cause A: other-fence
kernel void rotate_left(global int *tmp, global const int *in, global int *out) {
    size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    tmp[i] = in[i]; // <- A
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tmp[i - l + (l + 1) % n]; // <- A
}
