// fault: out-of-bounds: the first work-item reads the element before the tile.
//
// Moves the elements of each group one place to the right.
kernel void shift(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0), i = get_global_id(0);
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[(int)l - 1];
}
