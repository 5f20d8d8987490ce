// One element past a static local array.
// expect: memory-fault
// finding A: out-of-bounds local tile
kernel void shift(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0);
    tile[l + 1] = in[l]; // <- A
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = l > 0 ? tile[l] : 0;
}
