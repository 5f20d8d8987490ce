// An index that grows beyond all bounds: each item writes another wild place.
// expect: memory-fault
// finding A: out-of-bounds global out
kernel void everywhere(global char *out) {
    ulong i = get_global_id(0);
    for (ulong k = 0; k < 64; k++)
        out[(i + k) * 0x123456789ul - 0x55555555ul] = (char)k; // <- A
}
