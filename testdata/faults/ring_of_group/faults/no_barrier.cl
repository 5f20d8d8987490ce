// fault: data-race: the barrier is missing.
//
// Each work-item takes the element of its right neighbour in the group, the last one that of the first.
kernel void neighbour(global const int *in, global int *out, local int *tile) {
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)];
    out[get_global_id(0)] = tile[(l + 1) % n];
}
