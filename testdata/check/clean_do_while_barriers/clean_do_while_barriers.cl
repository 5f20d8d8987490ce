// A loop that ends for all at once, as its condition comes from local memory that all read behind a barrier.
// expect: clean all-interleavings
kernel void settle(global int *a, int n) {
    local int sum;
    int l = (int)get_local_id(0);
    int again;
    do {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (l == 0) {
            sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[k] > 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        again = sum > 0;
        if (l < n && a[l] > 0)
            a[l] -= 1;
    } while (again);
}
