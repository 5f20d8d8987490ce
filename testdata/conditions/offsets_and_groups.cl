// One row for each group, and four parts of buffers in bytes: what is said of all offsets is said once.
// expect: conditional `a0`, `b0` and `c0` are multiples of 4 and `get_local_size(1) == 1`
kernel void add_rows(global const char *a, ulong a0, global const char *b, ulong b0, global char *c, ulong c0,
                     int width) {
    global const float *left = (global const float *)(a + a0), *right = (global const float *)(b + b0);
    global float *sum = (global float *)(c + c0);
    const int row = get_group_id(1);
    for (int x = get_global_id(0); x < width; x += get_global_size(0))
        sum[row * width + x] = left[row * width + x] + right[row * width + x];
}
