// What squares and products of neighbours leave over.
kernel void dead_square(global const uint *x, global int *out) {
    int i = get_global_id(0);
    uint v = x[i];
    int r = 0;
    if ((v * v & 3) == 2) // -> true infeasible
        r = 1;
    if ((v * (v + 1)) & 1) // -> true infeasible
        r |= 2;
    if (v * v % 8 == 5) // -> true infeasible
        r |= 4;
    if (v * v % 8 == 1) // -> true covered
        r |= 8;
    out[i] = r;
}
