// One item writes a word, its neighbours write bytes of it.
// expect: racy
// finding A: data-race intra-group global out
kernel void mixed(global uchar *out) {
    uint l = (uint)get_local_id(0);
    if (l == 0)
        ((global uint *)out)[0] = 0x01020304u; // <- A
    else
        out[l] = (uchar)l; // <- A
}
