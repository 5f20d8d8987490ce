// The first id of the launch is only checked: groups lie along the second dimension, one for each row.
// expect: conditional `get_num_groups(0) == 1`
kernel void centre(int columns, int rows, global const float *in, global float *out, int width) {
    const int row = get_global_id(1), l = get_local_id(0);
    if (get_global_id(0) >= columns || row >= rows)
        return;
    float sum = 0.0f;
    for (int x = 0; x < width; x++)
        sum += in[row * width + x];
    for (int x = l; x < width; x += get_local_size(0))
        out[row * width + x] = in[row * width + x] - sum / width;
}
