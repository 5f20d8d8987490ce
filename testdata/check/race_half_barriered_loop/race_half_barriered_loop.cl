// One barrier per round, but reading and writing need one each between them.
// expect: racy
// finding A: data-race intra-group local cells
// cause A: missing-barrier
kernel void life(global const int *in, global int *out, int rounds) {
    local int cells[16];
    int l = (int)get_local_id(0), n = (int)get_local_size(0);
    cells[l] = in[l];
    for (int r = 0; r < rounds; r++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int sum = cells[(l + 1) % n] + cells[(l + n - 1) % n]; // <- A
        cells[l] = sum == 1; // <- A
    }
    out[l] = cells[l];
}
