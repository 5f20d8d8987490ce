// A barrier whose memory scope is the work-item orders nothing between work-items.
// expect: racy
// finding A: data-race intra-group local tile
kernel void turn(global const int *in, global int *out) {
    local int tile[8];
    int i = get_local_id(0), n = get_local_size(0);
    tile[i] = in[i]; // <- A
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_item);
    out[i] = tile[n - 1 - i]; // <- A
}
