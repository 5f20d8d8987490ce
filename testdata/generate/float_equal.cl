// Equality of a computed float.
kernel void float_equal(global const float *x, global int *out, float a, float b) {
    int i = get_global_id(0);
    int r = 0;
    if (x[i] * 2.0f + 1.0f == 7.5f) // -> true covered
        r = 1;
    if (a + b == 100.125f && a != 100.125f && b > 3.0f) // -> true covered
        r += 2;
    out[i] = r;
}
