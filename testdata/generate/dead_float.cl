// Floats that no order has, NaN or not.
kernel void dead_float(global const float *x, global int *out, float t) {
    int i = get_global_id(0);
    float v = x[i];
    int r = 0;
    if (v > 1.0f && v < 0.0f) // -> true infeasible
        r = 1;
    if (fabs(v) < 0.0f) // -> true infeasible
        r |= 2;
    if (v == v) {
        if (isnan(v)) // -> true infeasible
            r |= 4;
    }
    if (t < v && !(v > t)) // -> true infeasible
        r |= 8;
    if (v * v < 0.0f) // -> true infeasible
        r |= 16;
    out[i] = r;
}
