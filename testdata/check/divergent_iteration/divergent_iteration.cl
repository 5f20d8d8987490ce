// All meet at the same barrier, but odd items skipped it once: they are in another iteration.
// expect: divergent
// finding A: barrier-divergence
kernel void skip_once(global int *out) {
    int l = (int)get_local_id(0);
    for (int k = 0; k < 3; k++) {
        if (k == 0 && l % 2 == 1)
            continue;
        barrier(CLK_LOCAL_MEM_FENCE); // <- A
    }
    out[l] = l;
}
