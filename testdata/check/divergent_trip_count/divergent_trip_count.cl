// The loop around the barrier runs as often as the item's number says.
// expect: divergent
// finding A: barrier-divergence
kernel void steps(global int *out) {
    int l = (int)get_local_id(0);
    for (int k = 0; k <= l; k++) {
        barrier(CLK_LOCAL_MEM_FENCE); // <- A
    }
    out[l] = l;
}
