// fault: data-race: the barrier is missing.
//
// Each group reverses its part.
kernel void reverse(global const int *in, global int *out) {
    local int tile[32];
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)];
    out[get_global_id(0)] = tile[n - 1 - l];
}
