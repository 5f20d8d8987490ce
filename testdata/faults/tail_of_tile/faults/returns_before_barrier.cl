// fault: barrier-divergence: work-items behind the end return before the barrier: the usual guard in the wrong place.
//
// Each group loads its part of the first n elements into a tile; each element is added to the next one.
kernel void tail(global const int *in, global int *out, int n) {
    local int tile[16];
    int i = (int)get_global_id(0), l = (int)get_local_id(0), size = (int)get_local_size(0);
    if (i >= n)
        return;
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l] + (l + 1 < size ? tile[l + 1] : 0);
}
