// fault: barrier-divergence: the work-item of the border does not meet the barrier.
//
// Each element plus its left neighbour in the group; a tile with one place more than work-items holds a 0 on the
// left.
kernel void window(global const int *in, global int *out) {
    local int tile[17];
    size_t l = get_local_id(0), i = get_global_id(0);
    if (l == 0)
        tile[0] = 0;
    tile[l + 1] = in[i];
    if (l > 0)
        barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l] + tile[l + 1];
}
