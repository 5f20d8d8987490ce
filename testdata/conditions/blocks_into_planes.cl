// Channels become blocks of pixels: a plane has as many rows as there are blocks, times their side.
// expect: clean
kernel void widen(int side, int in_pitch, int plane_in, int row_pitch, int plane_pitch, int from, int to, int columns, int rows,
                  int channels, global const float *in, global float *out) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= columns || y >= rows)
        return;
    const int parts = side * side, plane = z / parts, part = z % parts;
    const int channel = plane * parts * 4 + part;
    const int here = channel * plane_in + y * in_pitch + x + from;
    float4 value = 0.0f;
    value.x = in[here];
    if (channel + parts < channels)
        value.y = in[here + parts * plane_in];
    if (channel + parts * 2 < channels)
        value.z = in[here + parts * 2 * plane_in];
    int at = x * side + part % side + to;
    at += (y * side + part / side) * row_pitch;
    at += plane * plane_pitch;
    vstore4(value, at, out);
}
