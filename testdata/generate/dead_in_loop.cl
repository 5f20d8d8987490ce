// What cannot hold in any turn of a loop: beyond its bound, off its step, before its start.
kernel void dead_in_loop(global int *out, int n) {
    int i = get_global_id(0), r = 0;
    for (int k = 0; k < 12; k++) {
        if (k == 12) // -> true infeasible
            r = 1;
        if (k == 11) // -> true covered
            r |= 2;
    }
    for (uint k = 4; k < 40; k += 4) {
        if (k % 4 == 1) // -> true infeasible
            r |= 4;
        if (k == 0) // -> true infeasible
            r |= 8;
    }
    for (int k = n; k > 0; k -= 2) {
        if (k > n) // -> true infeasible
            r |= 16;
    }
    out[i] = r;
}
