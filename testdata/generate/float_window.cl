// Narrow windows of floats.
kernel void float_window(global const float *t, global int *phase, float gain) {
    int i = get_global_id(0);
    float x = t[i];
    int p = 0;
    if (x > 273.15f && x < 273.16f) // -> true covered
        p = 1;
    else if (x * gain > 1000.25f && x * gain < 1000.5f && gain > 2.0f) // -> true covered
        p = 2;
    else if (x < -1e30f) // -> true covered
        p = 3;
    phase[i] = p;
}
