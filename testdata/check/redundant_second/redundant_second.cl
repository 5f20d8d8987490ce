// The first barrier does the work; the second one, behind the exchange, has nothing left to order.
// expect: clean all-interleavings
// finding A: redundant-barrier
kernel void exchange(global const int *in, global int *out) {
    local int tile[8];
    size_t l = get_local_id(0);
    tile[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = tile[7 - l];
    barrier(CLK_LOCAL_MEM_FENCE); // <- A
    out[l] = v;
}
