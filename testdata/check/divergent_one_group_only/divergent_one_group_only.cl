// Only the last group has items that return early; the other groups are fine.
// expect: divergent
// finding A: barrier-divergence
kernel void last_group(global int *out, int n) {
    size_t i = get_global_id(0);
    if (i < (size_t)n) {
        out[i] = 1;
        barrier(CLK_GLOBAL_MEM_FENCE); // <- A
        out[i] += 1;
    }
}
