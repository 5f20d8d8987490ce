// A word read at an odd byte.
// expect: memory-fault
// finding A: misaligned global bytes
kernel void unpack(global const uchar *bytes, global uint *out) {
    size_t i = get_global_id(0);
    out[i] = *(global const uint *)(bytes + 5 * i); // <- A
}
