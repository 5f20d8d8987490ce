// Two flags that always change together.
kernel void dead_state_parity(global const int *in, global int *out, int n) {
    int a = 0, b = 1;
    for (int k = 0; k < n; k++) {
        if (in[k] & 1) {
            a = 1 - a;
            b = 1 - b;
        }
        if (a == b) // -> true infeasible
            a = 7;
    }
    if (a > 1) // -> true infeasible
        b = 3;
    out[get_global_id(0)] = a * 2 + b;
}
