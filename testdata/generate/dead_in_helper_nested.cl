// A check that the caller made already, two calls further down.
int at(global const int *x, int i, int n) {
    if (i < 0 || i >= n) // -> true infeasible
        return 0;
    return x[i];
}
int around(global const int *x, int i, int n) {
    return at(x, i - 1, n) + at(x, i, n) + at(x, i + 1, n);
}
kernel void dead_in_helper_nested(global const int *x, global int *out, int n) {
    int i = get_global_id(0);
    if (i < 1 || n < 3 || i >= n - 1)
        return;
    out[i] = around(x, i, n);
}
