// Floats that come from integers and go back.
kernel void float_equal_convert(global const int *ticks, global float *seconds, float scale) {
    int i = get_global_id(0);
    float s = (float)ticks[i] * 0.25f;
    if (s == 3086.25f) // -> true covered
        s = 0.0f;
    int bucket = (int)scale;
    if (bucket == 4711 && scale != 4711.0f) // -> true covered
        s = -1.0f;
    seconds[i] = s;
}
