// Each side of the branch has a barrier of its own: the items wait, but not together.
// expect: divergent
// finding A: barrier-divergence
kernel void sides(global int *out) {
    size_t l = get_local_id(0);
    if (l % 2 == 0) {
        out[l] = 1;
        barrier(CLK_GLOBAL_MEM_FENCE); // <- A
    } else {
        out[l] = 2;
        barrier(CLK_GLOBAL_MEM_FENCE); // <- A
    }
}
