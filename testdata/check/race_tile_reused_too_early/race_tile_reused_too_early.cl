// The tile of the next round is written while others still read this one: the second barrier is missing.
// expect: racy
// finding A: data-race intra-group local tile
// cause A: next-iteration
kernel void rounds(global const int *in, global int *out, int count) {
    local int tile[16];
    size_t l = get_local_id(0), n = get_local_size(0);
    int sum = 0;
    for (int r = 0; r < count; r++) {
        tile[l] = in[r * n + l]; // <- A
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[n - 1 - l]; // <- A
    }
    out[l] = sum;
}
