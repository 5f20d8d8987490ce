// Groups have a row each, and work-items of a group their places in its sub-group only: a group has one.
// expect: clean
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

kernel void dot_rows(global const float *rows, global const float *vector, global float *out, int width) {
    const int row = get_group_id(0), layer = get_group_id(1), at = layer * get_num_groups(0) + row;
    float sum = 0.0f;
    for (int i = get_sub_group_local_id(); i < width; i += get_max_sub_group_size())
        sum += rows[at * width + i] * vector[i];
    sum = sub_group_reduce_add(sum);
    if (get_sub_group_local_id() == 0)
        out[at] = sum;
}
