// Each work-item writes four rows of a layer, of four elements each: a layer has all of them.
// expect: clean
kernel void transpose_quads(int in_pitch, int in_rows, int row_pitch, int layer_rows, int quads, int rows,
                            global const float *in, global float *out) {
    const int x = get_global_id(0), y = get_global_id(1), layer = get_global_id(2);
    if (x >= quads || y >= rows)
        return;
    const int from = (layer * in_rows + y * 4) * in_pitch + x * 4;
    const float4 a = vload4(0, in + from), b = vload4(0, in + from + in_pitch);
    const int to = (layer * layer_rows + x * 4) * row_pitch + y * 4;
    vstore4((float4)(a.x, b.x, 0, 0), 0, out + to);
    vstore4((float4)(a.y, b.y, 0, 0), 0, out + to + row_pitch);
    vstore4((float4)(a.z, b.z, 0, 0), 0, out + to + row_pitch * 2);
    vstore4((float4)(a.w, b.w, 0, 0), 0, out + to + row_pitch * 3);
}
