// Results of counting and saturating builtins.
kernel void dead_clamp_counts(global const uint *x, global int *out, uchar s, uchar t) {
    int i = get_global_id(0);
    int r = 0;
    if (popcount(x[i]) > 32) // -> true infeasible
        r = 1;
    if (clz(x[i]) == 32 && x[i] != 0) // -> true infeasible
        r |= 2;
    if (add_sat(s, t) < s) // -> true infeasible
        r |= 4;
    if (hadd(x[i], x[i]) != x[i]) // -> true infeasible
        r |= 8;
    if (popcount(x[i]) == 31) // -> true covered
        r |= 16;
    out[i] = r;
}
