// One side faults, the other does not: tests without a fault come first.
kernel void fault_one_side(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    int at = n < 0 ? -3 : i; // -> true covered-with-fault
    int v = in[at];
    if (v > 10) // -> true covered, false covered
        v = 10;
    out[i] = v;
}
