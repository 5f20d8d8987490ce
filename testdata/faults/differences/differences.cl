// Differences of neighbours; the first element stays as it is.
// The right form of `testdata/check/fault_left_of_buffer`.
kernel void differences(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = i > 0 ? in[i] - in[i - 1] : in[i];
}
