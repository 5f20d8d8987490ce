// The helper is fine, one of its callers is not: the way of calls tells.
// expect: memory-fault
// finding A: out-of-bounds global a
int at(global const int *p, int i) {
    return p[i]; // <- A
}

kernel void ends(global const int *a, global int *out, int n) {
    out[0] = at(a, 0);
    out[1] = at(a, n);
}
