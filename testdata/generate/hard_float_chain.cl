// Two hundred float operations, one after the other.
kernel void hard_float_chain(global const float *x, global int *out, int n) {
    int i = get_global_id(0);
    float v = x[i], w = 1.0f;
    for (int k = 0; k < 50; k++) {
        v = v * 1.0009765f + w;
        w = w * 0.75f - v * 0.001f;
    }
    int r = 0;
    if (v > 63.25f && v < 63.2501f) // -> true covered/unknown
        r = 1;
    if (n == 777) // -> true covered
        r |= 2;
    out[i] = r;
}
