// Bitonic sort in local memory: pairs are disjoint in every round.
// expect: clean all-interleavings
kernel void sort(global int *a, local int *s) {
    uint l = (uint)get_local_id(0), n = (uint)get_local_size(0);
    s[l] = a[l];
    for (uint size = 2; size <= n; size *= 2) {
        for (uint step = size / 2; step > 0; step /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint other = l ^ step;
            if (other > l) {
                int x = s[l], y = s[other];
                bool up = (l & size) == 0;
                if ((x > y) == up) {
                    s[l] = y;
                    s[other] = x;
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    a[l] = s[l];
}
