// A window moves along a row, which is longer than the window: its last part begins at a whole window before the end.
// expect: clean
kernel void smooth(global const float *in, global float *out, int width, int reach) {
    const int y = get_global_id(0);
    global const float *row = in + y * width;
    const float by = 1.0f / (2 * reach + 1);
    float sum = row[0] * reach;
    for (int x = 0; x <= reach; x++)
        sum += row[x];
    out[y * width] = sum * by;
    for (int x = 1; x <= reach; x++) {
        sum += row[x + reach] - row[0];
        out[y * width + x] = sum * by;
    }
    for (int x = reach + 1; x < width - reach; x++) {
        sum += row[x + reach] - row[x - reach - 1];
        out[y * width + x] = sum * by;
    }
    for (int x = width - reach; x < width; x++) {
        sum += row[width - 1] - row[x - reach - 1];
        out[y * width + x] = sum * by;
    }
}
