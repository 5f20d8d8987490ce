// Groups beyond the end return as a whole before the barrier.
// expect: clean all-interleavings
kernel void blocks(global const int *in, global int *out, int count) {
    local int tile[8];
    size_t l = get_local_id(0), i = get_global_id(0);
    if ((int)get_group_id(0) >= count)
        return;
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l ^ 1];
}
