// Sub-groups lie along the second dimension here, too, but all of them keep their sums in one row.
// expect: racy
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

kernel void weigh(global const float *matrix, global float *sums, int width, int height) {
    const int column = get_global_id(0), part = get_local_id(1), lane = get_sub_group_local_id();
    local float parts[64];
    float sum = 0.0f;
    if (column < width)
        for (int row = part; row < height; row += 4)
            sum += matrix[row * width + column];
    parts[lane] = sum + part;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (part == 0 && column < width)
        sums[column] = sum + parts[lane];
}
