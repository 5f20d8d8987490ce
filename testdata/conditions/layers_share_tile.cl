// Layers lie along the second dimension, but the tile is that of one row: groups of several would share it.
// expect: conditional `get_local_size(1) == 1`
kernel void reverse_rows(global const int *in, global int *out, local int *tile) {
    const size_t x = get_global_id(0), layer = get_global_id(1), l = get_local_id(0);
    const size_t at = layer * get_global_size(0) + x;
    tile[l] = in[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[at] = tile[get_local_size(0) - 1 - l];
}
