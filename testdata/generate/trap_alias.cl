// Looks impossible, but the two pointers may lead to one element.
kernel void trap_alias(global int *x, uint a, uint b) {
    size_t base = get_global_id(0) * 8;
    global int *p = x + base + (a & 7), *q = x + base + (b & 7);
    *p = 3;
    *q = 5;
    int r = 0;
    if (*p == 5) // -> true covered, false covered
        r = 1;
    if (*q == 3) // -> true infeasible/unknown
        r |= 2;
    x[base] = r;
}
