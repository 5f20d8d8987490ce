// fault: output: the record's kind is taken for the first byte.
//
// Words in records of five bytes, the first byte of a record being its kind.
kernel void unpack(global const uchar *bytes, global uint *out) {
    size_t i = get_global_id(0);
    global const uchar *b = bytes + 5 * i;
    out[i] = b[0] | (uint)b[1] << 8 | (uint)b[2] << 16 | (uint)b[3] << 24;
}
