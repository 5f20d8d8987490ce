// The last tile is not full: its group goes by what is left, and those beyond it come to the barrier nevertheless.
// expect: clean all-interleavings
kernel void mirror(global const int *in, global int *out, int count) {
    local int tile[8];
    int l = (int)get_local_id(0), n = (int)get_enqueued_local_size(0), base = (int)get_group_id(0) * n;
    int left = min(n, count - base);
    if (l < left)
        tile[left - 1 - l] = in[base + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l >= left)
        return;
    out[base + l] = tile[l];
}
