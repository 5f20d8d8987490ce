// Rows share a tile, and three parts of buffers begin at offsets in bytes: what is said of all offsets is said once.
// expect: conditional `a0`, `b0` and `c0` are multiples of 4 and `get_local_size(1) == 1`
kernel void add_rows(global const char *a, ulong a0, global const char *b, ulong b0, global char *c, ulong c0, int width,
                     local float *tile) {
    global const float *left = (global const float *)(a + a0), *right = (global const float *)(b + b0);
    global float *sum = (global float *)(c + c0);
    const int x = get_global_id(0), row = get_global_id(1), l = get_local_id(0), last = get_local_size(0) - 1;
    tile[l] = left[row * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    sum[row * width + x] = tile[last - l] + right[row * width + x];
}
