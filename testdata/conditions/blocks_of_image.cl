// Many counts of blocks divide ids, and multiply: sizes of images stay such as a launch has.
// expect: clean
kernel void fold(global const float4 *in, global float4 *out, int2 in_size, int2 out_size, int channels, int batch,
                 int2 stride, int2 pad, int2 dilation, int w_blocks, int h_blocks, int c_blocks, int from) {
    const int cw = get_global_id(0), bh = get_global_id(1);
    const int c = cw / w_blocks + from, w = cw % w_blocks, b = bh / h_blocks, h = bh % h_blocks * 2;
    if (c >= c_blocks || b >= batch || h + 1 >= out_size.x || w >= out_size.y)
        return;
    const int y = clamp(h * stride.x - pad.x, 0, in_size.x - 1), x = clamp(w * stride.y - pad.y, 0, in_size.y - 1);
    const float4 value = in[((b * channels + min(c, channels - 1)) * in_size.x + y) * in_size.y + x] * dilation.x;
    const int at = ((b * c_blocks + c) * out_size.x + h) * out_size.y + w;
    out[at] = value;
    out[at + out_size.y] = value * 0.5f;
}
