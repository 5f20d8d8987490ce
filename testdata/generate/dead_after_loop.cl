// What holds once a loop has ended.
kernel void dead_after_loop(global const int *in, global int *out, int n) {
    int i = get_global_id(0), sum = 0, k = 0;
    for (k = 0; k < n; k++)
        sum += in[k];
    if (k < n) // -> true infeasible
        sum = 1;
    if (n >= 0) {
        if (k > n) // -> true infeasible
            sum = 2;
    }
    if (k < 0) // -> true infeasible
        sum = 3;
    out[i] = sum;
}
