// Remainders and quotients out of range.
kernel void dead_quotient(global const uint *x, global int *out, uint d) {
    int i = get_global_id(0);
    uint v = x[i];
    int r = 0;
    if (v % 8 >= 8) // -> true infeasible
        r = 1;
    if (v / 16 * 16 > v) // -> true infeasible
        r |= 2;
    if (d > 0) {
        if (v % d >= d) // -> true infeasible/unknown
            r |= 4;
        if (v / d == 4294967295u && v != d) // -> true covered
            r |= 8;
    }
    out[i] = r;
}
