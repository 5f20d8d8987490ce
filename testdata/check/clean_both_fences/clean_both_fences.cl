// One barrier for both kinds of memory.
// expect: clean all-interleavings
kernel void both(global int *tmp, global const int *in, global int *out) {
    local int tile[16];
    size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    tmp[i] = in[i];
    tile[l] = 2 * in[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[i] = tmp[i - l + (l + 1) % n] + tile[(l + 2) % n];
}
