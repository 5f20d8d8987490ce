// The sub-groups of a group lie along its second dimension, and share out a column among them: no group has several side by side,
// and there is one group in that dimension.
// expect: clean
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

kernel void weigh(global const float *matrix, global const float *weights, global float *sums, int width, int height) {
    const int column = get_global_id(0), part = get_local_id(1), lane = get_sub_group_local_id();
    local float parts[3 * 64];
    float sum = 0.0f;
    if (column < width)
        for (int row = part; row < height; row += 4)
            sum += matrix[row * width + column] * weights[row];
    if (part > 0)
        parts[(part - 1) * 64 + lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (part == 0 && column < width)
        sums[column] = sum + parts[lane] + parts[64 + lane] + parts[128 + lane];
}
