// Relaxation to a fixed point that comes after 2^40 rounds or so: all work-items of the group go on until nobody has changed anything.
kernel void relax(global ulong *distance, global const uint *next, const int n, local int *changed) {
    int l = get_local_id(0);
    do {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (l == 0) *changed = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = l; i < n; i += get_local_size(0)) {
            if (distance[i] + 1 < ((ulong)next[i] << 32)) {
                distance[i]++;
                atomic_or(changed, 1);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    } while (*changed);
}
