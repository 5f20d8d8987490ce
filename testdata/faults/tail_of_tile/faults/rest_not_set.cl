// fault: uninitialised: work-items behind the end leave their place of the tile as it is.
//
// Each group loads its part of the first n elements into a tile; each element is added to the next one.
kernel void tail(global const int *in, global int *out, int n) {
    local int tile[16];
    int i = (int)get_global_id(0), l = (int)get_local_id(0), size = (int)get_local_size(0);
    if (i < n)
        tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= n)
        return;
    out[i] = tile[l] + (l + 1 < size ? tile[l + 1] : 0);
}
