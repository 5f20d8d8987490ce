// Nobody reads what others wrote: the barrier orders nothing.
// expect: clean all-interleavings
// finding A: redundant-barrier
kernel void own(global const int *in, global int *out) {
    local int tile[8];
    size_t l = get_local_id(0);
    tile[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE); // <- A
    out[l] = tile[l] + 1;
}
