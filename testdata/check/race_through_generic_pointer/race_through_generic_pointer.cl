// The pointer has no address space: it is the tile's for some and the buffer's for others.
// expect: racy
// finding A: data-race intra-group local shared
kernel void pick(global int *out) {
    local int shared[2];
    size_t l = get_local_id(0);
    int *to = l < 4 ? (int *)&shared[0] : (int *)&out[l];
    *to = (int)l; // <- A
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        out[0] = shared[0];
}
