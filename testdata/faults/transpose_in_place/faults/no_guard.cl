// fault: data-race, out-of-bounds: the end of the matrix is not checked.
//
// Each work-item above the diagonal swaps a pair of elements.
kernel void transpose(global int *a, int n) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (y < x) {
        int mine = a[y * n + x];
        a[y * n + x] = a[x * n + y];
        a[x * n + y] = mine;
    }
}
