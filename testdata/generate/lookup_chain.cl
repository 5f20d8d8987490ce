// A value at a place that is looked up at a place that is looked up.
kernel void lookup_chain(global const int *first, global const int *second, global const int *values, global int *out, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    int a = first[i];
    if (a < 0 || a >= n)
        return;
    int b = second[a];
    if (b < 0 || b >= n)
        return;
    int r = 0;
    if (values[b] == 31337) // -> true covered
        r = 1;
    if (b != i && values[values[b] & 7] == values[b] + 9) // -> true covered
        r += 2;
    out[i] = r;
}
