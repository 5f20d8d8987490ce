// A tail guard where it belongs.
// expect: clean all-interleavings
kernel void add(global const float *a, global const float *b, global float *c, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}
