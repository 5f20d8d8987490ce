// Source coordinates are divided by scales, which no host passes as 0 or less.
// expect: clean
kernel void enlarge(global const float *in, global float *out, int in_width, int in_height, int width, int height,
                    float scale_x, float scale_y) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    const int from_x = min((int)(x / scale_x), in_width - 1), from_y = min((int)(y / scale_y), in_height - 1);
    out[y * width + x] = in[from_y * in_width + from_x];
}
