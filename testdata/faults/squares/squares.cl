// Squares of the first n numbers.
// The right form of `testdata/check/fault_no_tail_guard`.
kernel void square(global float *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = (float)(i * i);
}
