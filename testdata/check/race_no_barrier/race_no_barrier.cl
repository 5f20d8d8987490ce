// The tile is read back in reverse without a barrier.
// expect: racy
// finding A: data-race intra-group local tile
kernel void reverse(global const int *in, global int *out) {
    local int tile[32];
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)]; // <- A
    out[get_global_id(0)] = tile[n - 1 - l]; // <- A
}
