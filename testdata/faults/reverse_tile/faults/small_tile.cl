// fault: out-of-bounds: the tile has room for half of a full group.
//
// Each group reverses its part.
kernel void reverse(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[n - 1 - l];
}
