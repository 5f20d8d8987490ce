// Looks impossible, but NaN is not in order, and zero has two signs.
kernel void trap_nan(global const float *x, global int *out, float y) {
    int i = get_global_id(0);
    float v = x[i];
    int r = 0;
    if (!(v < y) && !(v >= y)) // -> true covered
        r = 1;
    if (v != v) // -> true covered
        r |= 2;
    if (y == 0.0f && 1.0f / y < 0.0f) // -> true covered
        r |= 4;
    if (fmax(v, y) != v && fmax(v, y) == y && !(v < y)) // -> true covered
        r |= 8;
    out[i] = r;
}
