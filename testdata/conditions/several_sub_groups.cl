// The sub-groups of a group share out a row, so that there are several: each of them writes the whole sum.
// expect: racy
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

kernel void dot_rows(global const float *rows, global const float *vector, global float *out, int width) {
    const int row = get_group_id(0);
    float sum = 0.0f;
    const int step = get_num_sub_groups() * get_max_sub_group_size();
    for (int i = get_sub_group_id() * get_max_sub_group_size() + get_sub_group_local_id(); i < width; i += step)
        sum += rows[row * width + i] * vector[i];
    sum = sub_group_reduce_add(sum);
    if (get_sub_group_local_id() == 0)
        out[row] = sum;
}
