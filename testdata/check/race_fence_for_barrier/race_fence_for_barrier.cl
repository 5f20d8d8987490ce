// `mem_fence` orders a work-item's own accesses only; it is no barrier.
// expect: racy
// finding A: data-race intra-group local tile
kernel void shift(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0);
    tile[l] = in[l]; // <- A
    mem_fence(CLK_LOCAL_MEM_FENCE);
    out[l] = l > 0 ? tile[l - 1] : 0; // <- A
}
