// Ids are divided by counts of blocks, of which there are many: remainders are no larger than the ids, and sizes stay such as
// buffers of a launch have. Each work-item writes four rows of an image, by one pitch.
// expect: clean
kernel void unfold(global const float *in, global float *out, int2 in_size, int channels, int in_blocks, int batch, int2 size,
                   int2 window, int2 stride, int2 pad, int2 dilation, int w_blocks, int c_blocks, int h_blocks, int from) {
    const int cw = get_global_id(0), bh = get_global_id(1);
    const int c = (cw / w_blocks + from) << 1;
    if (c >= c_blocks)
        return;
    const int x = cw % w_blocks, b = bh / h_blocks, y = (bh % h_blocks) << 2;
    const float4 value = vload4(c, in);
    const int at = (((b + c * batch) * size.x + y) * size.y + x) * 4;
    vstore4(value, 0, out + at);
    vstore4(value * 2.0f, size.y, out + at);
    vstore4(value * 3.0f, 2 * size.y, out + at);
    vstore4(value * 4.0f, 3 * size.y, out + at);
}
