// fault: misaligned: the word is read at once, wherever it begins.
//
// Words in records of five bytes, the first byte of a record being its kind.
kernel void unpack(global const uchar *bytes, global uint *out) {
    size_t i = get_global_id(0);
    global const uchar *b = bytes + 5 * i + 1;
    out[i] = *(global const uint *)b;
}
