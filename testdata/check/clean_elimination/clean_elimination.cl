// Each round reads the pivot's row and writes the rows below it.
// expect: clean all-interleavings
kernel void eliminate(global float *a, int n) {
    int x = (int)get_local_id(0), y = (int)get_local_id(1);
    for (int p = 0; p < n - 1; p++) {
        float by = 0.0f, above = 0.0f;
        if (x < n && y > p && y < n) {
            by = a[y * n + p] / a[p * n + p];
            above = a[p * n + x];
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (x < n && y > p && y < n)
            a[y * n + x] -= by * above;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
