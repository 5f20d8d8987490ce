// A local argument smaller than the group.
// expect: memory-fault
// finding A: out-of-bounds local tile
// finding B: out-of-bounds local tile
kernel void copy_through(global const int *in, global int *out, local int *tile) {
    size_t l = get_local_id(0);
    tile[l] = in[l]; // <- A
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = tile[l]; // <- B
}
