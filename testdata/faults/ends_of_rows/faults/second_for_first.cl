// fault: out-of-bounds: counts elements from one.
//
// The first and the last element of each row, fetched by a helper.
int at(global const int *p, int i) {
    return p[i];
}

kernel void ends(global const int *a, global int *out, int rows, int n) {
    int y = (int)get_global_id(0);
    if (y >= rows)
        return;
    out[2 * y] = at(a + y * n, 1);
    out[2 * y + 1] = at(a + y * n, n - 1);
}
