// Channels are packed; the last pack of a row may be partly empty, so that the pitch is rounded up.
// expect: clean
kernel void pack(global const float *weights, global float *packed, int inputs, int outputs, int width) {
    const int x = get_global_id(0), y = get_global_id(1);
    const int packs = (outputs + width - 1) / width;
    global float *to = packed + (x * packs + y) * width;
    for (int i = 0; i < width; i++)
        to[i] = weights[(y * width + i) * inputs + x];
}
