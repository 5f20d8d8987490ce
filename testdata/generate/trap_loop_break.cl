// Looks like what a loop has made sure of, but it may have been left early, or not been entered.
kernel void trap_loop_break(global const int *in, global int *out, int n) {
    int k, last = -1;
    for (k = 0; k < n; k++) {
        last = k;
        if (in[k] == 606) // -> true covered
            break;
    }
    int r = 0;
    if (k < n) // -> true covered, false covered
        r = 1;
    if (last != k - 1) // -> true covered
        r |= 2;
    if (k > n) // -> true covered
        r |= 4;
    out[get_global_id(0)] = r;
}
