// fault: data-race: the barrier's flags name no memory.
//
// Moves the elements of each group one place to the right.
kernel void shift(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0), i = get_global_id(0);
    tile[l] = in[i];
    barrier(0);
    out[i] = l > 0 ? tile[l - 1] : 0;
}
