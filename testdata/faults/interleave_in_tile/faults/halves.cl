// fault: output: first all elements, then all doubles.
//
// Each group puts its elements and their doubles alternately; the tile has room for two values of each work-item.
kernel void interleave(global const int *in, global int *out, local int *tile) {
    size_t l = get_local_id(0), n = get_local_size(0), first = get_group_id(0) * n;
    tile[l] = in[first + l];
    tile[n + l] = 2 * in[first + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[2 * first + l] = tile[l];
    out[2 * first + n + l] = tile[n + l];
}
