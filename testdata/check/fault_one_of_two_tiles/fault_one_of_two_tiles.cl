// Bytes of one of two tiles, chosen at run time: index 320 lies beyond the first tile, where the second one might be.
// expect: memory-fault
// finding A: out-of-bounds local coarse
kernel void pick(global const int *in, global uchar *out, int fine_first, int at) {
    local int coarse[64];
    local int fine[64];
    int l = get_local_id(0), n = get_local_size(0);
    for (int i = l; i < 64; i += n) {
        coarse[i] = in[i];
        fine[i] = in[63 - i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    local uchar *bytes = (local uchar *)(fine_first ? fine : coarse);
    out[l] = bytes[at + l]; // <- A
}
