// A helper that takes any pointer, given local and global ones.
// expect: clean all-interleavings
int take(const int *p, size_t at) {
    return p[at];
}

kernel void either(global const int *in, global int *out) {
    local int tile[8];
    size_t l = get_local_id(0);
    tile[l] = take((const int *)in, l);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = take(tile, 7 - l);
}
