// A clamped float that is not NaN stays within its bounds; fmin and fmax choose.
kernel void dead_clamp_float(global const float *x, global int *out) {
    int i = get_global_id(0);
    float v = fmin(fmax(x[i], 0.0f), 1.0f);
    int r = 0;
    if (v > 1.0f) // -> true infeasible
        r = 1;
    if (v < 0.0f) // -> true infeasible
        r |= 2;
    if (v * 255.0f > 255.5f) // -> true infeasible
        r |= 4;
    if (v > 0.25f && v < 0.250001f) // -> true covered
        r |= 8;
    out[i] = r;
}
