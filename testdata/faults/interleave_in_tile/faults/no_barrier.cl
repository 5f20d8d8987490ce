// fault: data-race: the barrier is missing.
//
// Each group puts its elements and their doubles alternately; the tile has room for two values of each work-item.
kernel void interleave(global const int *in, global int *out, local int *tile) {
    size_t l = get_local_id(0), n = get_local_size(0), first = get_group_id(0) * n;
    tile[2 * l] = in[first + l];
    tile[2 * l + 1] = 2 * in[first + l];
    out[2 * first + l] = tile[l];
    out[2 * first + n + l] = tile[n + l];
}
