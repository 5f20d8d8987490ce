// Bins counted in local memory by atomics, added up in global memory by atomics.
// expect: clean all-interleavings
kernel void histogram(global const uchar *in, global int *bins) {
    local int mine[8];
    size_t l = get_local_id(0);
    if (l < 8)
        mine[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&mine[in[get_global_id(0)] % 8]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8)
        atomic_add(&bins[l], mine[l]);
}
