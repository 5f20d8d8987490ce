// One step of a substitution that goes from the last rows to the first: rows are counted from the end.
// expect: clean all-interleavings
kernel void step(global const float *a, global const float *b, global float *x, int done, int n) {
    int c = (int)get_global_id(0);
    if (c < n) {
        int row = (n - 2 - done) * n, next = (n - 3 - done) * n;
        x[row + c] = (x[row + c] - a[next + c] * b[next + c]) / b[row + c];
    }
}
