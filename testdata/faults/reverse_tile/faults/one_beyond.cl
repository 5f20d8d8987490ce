// fault: out-of-bounds, uninitialised: the first work-item reads the element behind the last.
//
// Each group reverses its part.
kernel void reverse(global const int *in, global int *out) {
    local int tile[32];
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[n - l];
}
