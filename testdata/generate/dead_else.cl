// What is left after two comparisons of a number with itself or its opposite.
kernel void dead_else(global const int *x, global int *out, int v, uint m) {
    int i = get_global_id(0);
    int r = 0;
    if (v < 0)
        r = -1;
    else if (v > 0)
        r = 1;
    else if (v == 0) // -> false infeasible
        r = 0;
    else
        r = 99;
    if (m != 0) {
        r += 2;
    } else {
        if (m * 5u == 0) // -> false infeasible
            r += 4;
    }
    out[i] = r + x[i];
}
