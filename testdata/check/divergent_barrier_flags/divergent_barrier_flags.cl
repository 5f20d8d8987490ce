// The halves of the group pass the barrier flags of their own.
// expect: divergent
// finding A: barrier-divergence
// finding B: redundant-barrier
kernel void halves(global int *out) {
    int i = get_local_id(0), n = get_local_size(0);
    cl_mem_fence_flags flags = i < n / 2 ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE;
    out[i] = i;
    barrier(flags); // <- A B
    out[i] += n;
}
