// Columns substituted backwards, from the last but two rows down to the first: indices fall as the loop's counter rises.
// expect: clean all-interleavings
kernel void sweep(global const float *a, global const float *b, global float *x, int n) {
    int c = (int)get_global_id(0);
    if (c < n)
        for (int i = 0; i < n - 2; i++)
            x[(n - 2 - i) * n + c] = (x[(n - 2 - i) * n + c] - x[(n - 3 - i) * n + c] * a[(n - i - 3) * n + c]) / b[(n - 3 - i) * n + c];
}
