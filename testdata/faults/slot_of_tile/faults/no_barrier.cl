// fault: data-race: the barrier is missing.
//
// Before the barrier one work-item of each group writes a fixed slot of the tile, another the slot that a scalar
// names, if it is free.
kernel void slots(global int *out, const int slot) {
    local int tile[16];
    int l = (int)get_local_id(0);
    tile[l] = l;
    if (l == 5)
        tile[9] = 100;
    if (l == 6 && slot > 9 && slot < 16)
        tile[slot] = 200;
    int read = tile[7 - l];
    if (l == 1)
        read += tile[9];
    if (l == 2 && slot > 9 && slot < 16)
        read += tile[slot];
    out[get_global_id(0)] = read;
}
