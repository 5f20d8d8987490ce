// fault: data-race: each work-item stores its element in the other place.
//
// Each work-item above the diagonal swaps a pair of elements.
kernel void transpose(global int *a, int n) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x < n && y < n) {
        int mine = a[y * n + x];
        a[x * n + y] = mine;
    }
}
