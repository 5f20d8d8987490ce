// The tile takes the even elements and zeros for the odd ones; each work-item adds its own and its neighbour's.
// The right form of `testdata/check/fault_uninitialised_tile`.
kernel void gaps(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0), i = get_global_id(0);
    tile[l] = l % 2 == 0 ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l] + tile[l ^ 1];
}
