// Windows between neighbouring floats: nothing fits in.
kernel void dead_float_window(global const float *x, global int *out, double d) {
    int i = get_global_id(0);
    int r = 0;
    if (x[i] > 1.0f && x[i] < 1.00000011f) // -> true infeasible
        r = 1;
    if (x[i] > 16777216.0f && x[i] < 16777218.0f) // -> true infeasible
        r |= 2;
    if (d > 16777216.0 && d < 16777218.0) // -> true covered
        r |= 4;
    if ((float)(int)(x[i] > 0.0f) == 0.5f) // -> true infeasible
        r |= 8;
    out[i] = r;
}
