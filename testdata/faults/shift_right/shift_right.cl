// Moves the elements of each group one place to the right.
// The right form of `testdata/check/race_fence_for_barrier`.
kernel void shift(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0), i = get_global_id(0);
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = l > 0 ? tile[l - 1] : 0;
}
