// Compressed rows: where each work-item's elements begin and end stands in a buffer, and ranges do not overlap.
// expect: clean all-interleavings
kernel void normalise(global const int *begin, global float *value, int rows) {
    int r = (int)get_global_id(0);
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int k = begin[r]; k < begin[r + 1]; k++)
        sum += value[k];
    for (int k = begin[r]; k < begin[r + 1]; k++)
        value[k] = sum > 0.0f ? value[k] / sum : 0.0f;
}
