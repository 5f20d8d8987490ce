// fault: out-of-bounds: the first element has a left neighbour.
//
// Smooths `a` into `b`; the first and the last element stay as they are.
kernel void smooth(global float *a, global float *b, int n) {
    int i = (int)get_global_id(0);
    if (i >= n)
        return;
    float x = a[i];
    if (i >= 0 && i < n - 1)
        x = 0.25f * a[i - 1] + 0.5f * x + 0.25f * a[i + 1];
    b[i] = x;
}
