// Items write bytes of the same word: no race, as bytes are locations of their own.
// expect: clean all-interleavings
kernel void bytes(global const int *in, global uchar *out, global ushort *halves) {
    size_t i = get_global_id(0);
    out[i] = (uchar)in[i];
    halves[i] = (ushort)(in[i] * 3);
}
