// Each item swaps a pair, but both items of a pair do it.
// expect: racy
// finding A: data-race intra-group global a
kernel void transpose(global int *a, int n) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    int mine = a[y * n + x]; // <- A
    a[x * n + y] = mine; // <- A
}
