// Helpers that are only called where part of them cannot be reached.
float safe_divide(float a, float b, int mode) {
    if (mode > 2) // -> true infeasible
        return 0.0f;
    if (mode == 1 && b == 0.0f) // -> true covered
        return a;
    return a / b;
}
int level(int v) {
    if (v < 0) // -> true infeasible
        return -1;
    return v > 1000 ? 2 : 1; // -> true covered, false covered
}
kernel void dead_in_helper(global const float *a, global float *out, int v) {
    int i = get_global_id(0);
    float r = safe_divide(a[i], 2.0f, 0) + safe_divide(1.0f, a[i], 1);
    if (v >= 0)
        r += (float)level(v);
    r += (float)level(v & 0xffff);
    out[i] = r;
}
