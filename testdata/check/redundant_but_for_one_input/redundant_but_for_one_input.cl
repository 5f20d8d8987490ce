// With one round the barrier at the loop's end orders nothing, with two it does: the suite holds both, so it is needed.
// expect: clean all-interleavings
kernel void rounds(global const int *in, global int *out, int count) {
    local int tile[8];
    size_t l = get_local_id(0);
    int sum = 0;
    for (int r = 0; r < count; r++) {
        tile[l] = in[l] + r;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[7 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sum;
}
