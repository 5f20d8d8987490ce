// fault: output: records are taken to have four bytes.
//
// Words in records of five bytes, the first byte of a record being its kind.
kernel void unpack(global const uchar *bytes, global uint *out) {
    size_t i = get_global_id(0);
    global const uchar *b = bytes + 4 * i + 1;
    out[i] = b[0] | (uint)b[1] << 8 | (uint)b[2] << 16 | (uint)b[3] << 24;
}
