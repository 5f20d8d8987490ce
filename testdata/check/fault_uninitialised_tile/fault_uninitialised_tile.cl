// Odd elements of the tile are read but never written. A finding, but the verdict stays clean.
// expect: clean
// finding A: uninitialised local tile
// finding B: redundant-barrier
kernel void gaps(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0);
    if (l % 2 == 0)
        tile[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE); // <- B
    out[l] = tile[l]; // <- A
}
