// Pairs are exchanged in place in global memory: disjoint in each round, and one round begins where the other ended.
// expect: clean all-interleavings
kernel void sort(global int *a, int n) {
    int l = (int)get_local_id(0);
    for (int round = 0; round < n; round++) {
        int at = 2 * l + round % 2;
        if (at + 1 < n && a[at] > a[at + 1]) {
            int was = a[at];
            a[at] = a[at + 1];
            a[at + 1] = was;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
