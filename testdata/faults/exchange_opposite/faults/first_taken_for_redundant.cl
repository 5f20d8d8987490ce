// fault: data-race: the first barrier is left out.
//
// Each work-item takes the value of the opposite one in its group, twice.
kernel void exchange(global const int *in, global int *out) {
    local int tile[8];
    size_t l = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
    tile[l] = in[i];
    int v = tile[n - 1 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = v + (int)l;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[n - 1 - l];
}
