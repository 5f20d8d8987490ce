// Scalars say how many starts there are, with one more behind them, and where parts of a workspace begin. Some values would bring
// work-items together there; no host means those.
// expect: clean all-interleavings
kernel void parts(global int *starts, global int *work, const int n, const int first, const int second) {
    int i = get_global_id(0);
    starts[i] = i;
    if (i == n - 1)
        starts[n] = n;
    work[first + i] = i;
    if (i == 0)
        work[second] = 1;
}
