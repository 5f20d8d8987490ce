// Work-items leave at three places, but no barrier comes after.
// expect: clean all-interleavings
kernel void classify(global const int *in, global int *out, int n, int least) {
    int i = (int)get_global_id(0);
    if (i >= n)
        return;
    int v = in[i];
    if (v < least) {
        out[i] = -1;
        return;
    }
    for (int d = 2; d * d <= v; d++) {
        if (v % d == 0) {
            out[i] = d;
            return;
        }
    }
    out[i] = 0;
}
