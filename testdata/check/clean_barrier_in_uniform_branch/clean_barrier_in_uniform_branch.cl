// Whole groups take the branch with the barrier, or none of their items does.
// expect: clean all-interleavings
kernel void some_groups(global const int *in, global int *out) {
    local int tile[8];
    size_t l = get_local_id(0), i = get_global_id(0);
    if (get_group_id(0) % 2 == 0) {
        tile[l] = in[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = tile[7 - l];
    } else {
        out[i] = -in[i];
    }
}
