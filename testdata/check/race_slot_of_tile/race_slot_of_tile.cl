// Before the barrier one work-item of each group writes a fixed slot of the tile, another the slot that a scalar names.
// expect: racy all-interleavings
// finding A: data-race intra-group local tile
kernel void slots(global int *out, const int slot) {
    local int tile[16];
    int l = get_local_id(0);
    if (l < 4)
        tile[l] = l;
    if (l == 5)
        tile[9] = 1; // <- A
    if (l == 6 && slot > 4)
        tile[slot] = 2; // <- A
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4)
        out[get_global_id(0)] = tile[l];
}
