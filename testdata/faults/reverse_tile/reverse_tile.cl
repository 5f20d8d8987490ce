// Each group reverses its part.
// The right form of `testdata/check/race_no_barrier`.
kernel void reverse(global const int *in, global int *out) {
    local int tile[32];
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[n - 1 - l];
}
