// Items beyond the end return before the barrier: the usual tail guard in the wrong place.
// expect: divergent
// finding A: barrier-divergence
kernel void tail(global const int *in, global int *out, int n) {
    local int tile[16];
    int i = (int)get_global_id(0), l = (int)get_local_id(0);
    if (i >= n)
        return;
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE); // <- A
    out[i] = tile[l];
}
