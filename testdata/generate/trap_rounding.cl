// Looks impossible, but floats round.
kernel void trap_rounding(global const float *x, global int *out, float y) {
    int i = get_global_id(0);
    float v = x[i];
    int r = 0;
    if (v + y == v && y > 1.0f && v < 1e30f) // -> true covered
        r = 1;
    if (v > 1.0f && (v + y) - v != y && y > 0.5f && y < 2.0f) // -> true covered
        r |= 2;
    if (v > 0.0f && v * v == 0.0f) // -> true covered
        r |= 4;
    out[i] = r;
}
