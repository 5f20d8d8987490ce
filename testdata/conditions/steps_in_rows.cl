// A window is moved by a step along rows of an image. The step multiplies a column, which is checked against the width: it is no
// pitch that rows would have to fit into.
// expect: clean
kernel void window_sums(global const float4 *in, global float4 *out, int2 in_size, int2 size, int2 window, int2 step,
                        int2 pad, int w_blocks) {
    const int cw = get_global_id(0), row = get_global_id(1);
    const int c = cw / w_blocks, w = (cw % w_blocks) << 1;
    if (row >= size.x || w + 1 >= size.y)
        return;
    const int left = mad24(w, step.y, -pad.y), right = left + step.y, top = mad24(row, step.x, -pad.x);
    float4 sum0 = 0.0f, sum1 = 0.0f;
    for (int y = max(top, 0); y < min(top + window.x, in_size.x); y++) {
        const int begin = (c * in_size.x + y) * in_size.y;
        for (int f = 0; f < window.y; f++) {
            const int x0 = f + left, x1 = f + right;
            sum0 += x0 < 0 || x0 >= in_size.y ? (float4)0.0f : in[begin + x0];
            sum1 += x1 < 0 || x1 >= in_size.y ? (float4)0.0f : in[begin + x1];
        }
    }
    out[(c * size.x + row) * size.y + w] = sum0;
    out[(c * size.x + row) * size.y + w + 1] = sum1;
}
