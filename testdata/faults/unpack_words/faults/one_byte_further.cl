// fault: out-of-bounds: the words are taken to begin one byte further.
//
// Words in records of five bytes, the first byte of a record being its kind.
kernel void unpack(global const uchar *bytes, global uint *out) {
    size_t i = get_global_id(0);
    global const uchar *b = bytes + 5 * i + 2;
    out[i] = b[0] | (uint)b[1] << 8 | (uint)b[2] << 16 | (uint)b[3] << 24;
}
