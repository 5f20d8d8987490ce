// fault: uninitialised: groups are taken to fill the tile.
//
// Each group loads its part of the first n elements into a tile; each element is added to the next one.
kernel void tail(global const int *in, global int *out, int n) {
    local int tile[16];
    int i = (int)get_global_id(0), l = (int)get_local_id(0), size = (int)get_local_size(0);
    tile[l] = i < n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= n)
        return;
    out[i] = tile[l] + (l + 1 < 16 ? tile[l + 1] : 0);
}
