// Contradictions within one condition, and ternaries that they decide.
kernel void dead_short_circuit(global const int *x, global int *out, int n) {
    int i = get_global_id(0);
    int v = x[i];
    int r = 0;
    if (v > 0 && v < 100 && v * 2 == 7) // -> true infeasible
        r = 1;
    if (v > 5 || v <= 5) // -> false infeasible
        r |= 2;
    r |= v == n && n != v ? 4 : 0; // -> true infeasible
    if (!(v > 3) && !(v < 9)) // -> true infeasible
        r |= 8;
    out[i] = r;
}
