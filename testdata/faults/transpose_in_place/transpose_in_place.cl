// Each work-item above the diagonal swaps a pair of elements.
// The right form of `testdata/check/race_transpose_in_place`.
kernel void transpose(global int *a, int n) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (y < x && x < n) {
        int mine = a[y * n + x];
        a[y * n + x] = a[x * n + y];
        a[x * n + y] = mine;
    }
}
