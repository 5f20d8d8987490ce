// fault: data-race: smooths in place; the barrier keeps the work-items of a group apart, but not the groups, and not
// reading from writing.
//
// Smooths `a` into `b`; the first and the last element stay as they are.
kernel void smooth(global float *a, global float *b, int n) {
    int i = (int)get_global_id(0);
    float x = i < n ? a[i] : 0.0f;
    if (i > 0 && i < n - 1)
        x = 0.25f * a[i - 1] + 0.5f * x + 0.25f * a[i + 1];
    if (i < n)
        a[i] = x;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i < n)
        b[i] = a[i];
}
