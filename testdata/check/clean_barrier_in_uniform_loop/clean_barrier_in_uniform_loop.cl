// The trip count is an argument: all go round equally often.
// expect: clean all-interleavings
kernel void rounds(global const int *in, global int *out, int count) {
    local int tile[16];
    size_t l = get_local_id(0), n = get_local_size(0);
    int sum = 0;
    for (int r = 0; r < count; r++) {
        tile[l] = in[r * n + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[n - 1 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sum;
}
