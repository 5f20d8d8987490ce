// Masks of arguments: what was set stays set, what was shifted out is gone.
kernel void dead_mask_arguments(global ulong *out, ulong word, uint shift) {
    ulong high = word & 0xffffffff00000000ul;
    ulong r = 0;
    if ((uint)high != 0) // -> true infeasible
        r = 1;
    if ((high >> 32) > 0xfffffffful) // -> true infeasible
        r |= 2;
    if (((1u << (shift & 7)) & 0xff00u) != 0) // -> true infeasible
        r |= 4;
    if ((word ^ word >> 1) == 0 && word != 0) // -> true infeasible
        r |= 8;
    out[get_global_id(0)] = r;
}
