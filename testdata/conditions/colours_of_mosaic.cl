// Bytes say which of three colours a sensor's pixel has. A host that passes others is wrong.
// expect: conditional all of `colours` is at least 0 and less than `3`
kernel void balance(global const float *raw, global float *out, global const uchar (*colours)[6], int width, int height) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    float sums[3] = {0.0f, 0.0f, 0.0f};
    int counts[3] = {0, 0, 0};
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const int colour = colours[(y + dy) % 6][(x + dx) % 6];
            sums[colour] += raw[(y + dy) * width + x + dx];
            counts[colour]++;
        }
    const float red = sums[0] / max(counts[0], 1), blue = sums[2] / max(counts[2], 1);
    out[y * width + x] = sums[1] / max(counts[1], 1) + 0.5f * (red + blue);
}
