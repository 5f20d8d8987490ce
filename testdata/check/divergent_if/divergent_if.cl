// Only part of the group reaches the barrier.
// expect: divergent
// finding A: barrier-divergence
kernel void half_waits(global int *out) {
    size_t l = get_local_id(0);
    if (l < 8) {
        barrier(CLK_LOCAL_MEM_FENCE); // <- A
    }
    out[l] = (int)l;
}
