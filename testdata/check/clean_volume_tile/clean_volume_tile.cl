// A tile of three dimensions, read transposed behind the barrier.
// expect: clean all-interleavings
kernel void swap_axes(global const int *in, global int *out) {
    local int tile[2][3][4];
    size_t x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    size_t w = get_global_size(0), h = get_global_size(1);
    tile[z][y][x] = in[(get_global_id(2) * h + get_global_id(1)) * w + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t at = (get_global_id(2) * h + get_global_id(1)) * w + get_global_id(0);
    out[at] = tile[1 - z][2 - y][3 - x];
}
