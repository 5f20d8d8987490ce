// Bits that a mask has taken away, or put there.
kernel void dead_mask(global const uint *flags, global int *out, int x) {
    int i = get_global_id(0);
    uint f = flags[i];
    int r = 0;
    if ((f & 0x0c) == 0x10) // -> true infeasible
        r = 1;
    if ((f | 0x80u) < 0x80u) // -> true infeasible
        r |= 2;
    if ((x & 3) == 5) // -> true infeasible
        r |= 4;
    if ((f & 0xf0u) == 0xa0u && (f & 0x30u) == 0x10u) // -> true infeasible
        r |= 8;
    if ((f & 0xf0u) == 0xa0u && (f & 0x30u) == 0x20u) // -> true covered
        r |= 16;
    out[i] = r;
}
