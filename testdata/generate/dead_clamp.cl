// Results of min, max, clamp and abs.
kernel void dead_clamp(global const int *x, global int *out, int a, int b) {
    int i = get_global_id(0);
    int v = clamp(x[i], 0, 255);
    int r = 0;
    if (v > 255) // -> true infeasible
        r = 1;
    if (min(a, b) > a) // -> true infeasible
        r |= 2;
    if (max(a, 10) < 10) // -> true infeasible
        r |= 4;
    if (abs(x[i]) > 0x80000000u) // -> true infeasible
        r |= 8;
    if (abs(x[i]) == 0x80000000u) // -> true covered
        r |= 16;
    out[i] = r;
}
