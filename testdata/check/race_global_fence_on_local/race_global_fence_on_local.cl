// The other way round: the barrier orders global memory, the tile is local.
// expect: racy
// finding A: data-race intra-group local tile
kernel void neighbour(global const int *in, global int *out, local int *tile) {
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)]; // <- A
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = tile[(l + 1) % n]; // <- A
}
