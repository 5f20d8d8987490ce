// The window moves one element too early: however long rows are, that is before the first row.
// expect: memory-fault
kernel void smooth(global const float *in, global float *out, int width, int reach) {
    const int y = get_global_id(0);
    global const float *row = in + y * width;
    float sum = 0.0f;
    for (int x = 0; x <= reach; x++)
        sum += row[x];
    out[y * width] = sum;
    for (int x = reach; x < width - reach; x++) {
        sum += row[x + reach] - row[x - reach - 1];
        out[y * width + x] = sum;
    }
    for (int x = width - reach; x < width; x++) {
        sum += row[width - 1] - row[x - reach - 1];
        out[y * width + x] = sum;
    }
}
