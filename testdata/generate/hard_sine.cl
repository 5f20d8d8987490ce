// Guards over functions that no solver knows.
kernel void hard_sine(global const float *x, global int *out) {
    int i = get_global_id(0);
    int r = 0;
    if (sin(x[i]) > 0.999f) // -> true covered/unknown, false covered
        r = 1;
    if (exp(x[i]) > 20.0f && exp(x[i]) < 20.1f) // -> true covered/unknown
        r |= 2;
    if (exp(x[i]) < 0.0f) // -> true infeasible/unknown
        r |= 4;
    if (pow(x[i], 3.0f) == 27.0f) // -> true covered/unknown
        r |= 8;
    out[i] = r;
}
