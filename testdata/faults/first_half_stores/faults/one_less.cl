// fault: uninitialised: the last one of the half stores nothing.
//
// The first half of the group stores values, and all read them.
kernel void half_waits(global const int *in, global int *out) {
    local int tile[8];
    size_t l = get_local_id(0), half_size = get_local_size(0) / 2, i = get_global_id(0);
    if (l + 1 < half_size)
        tile[l] = in[i] + in[i + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[(l + 1) % half_size];
}
