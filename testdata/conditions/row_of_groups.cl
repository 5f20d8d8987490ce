// Groups form a grid, but their work-items one row: the second local id is added where a row of groups would be skipped.
// expect: conditional `get_local_size(1) == 1`
kernel void double_all(global float *data, const int n) {
    int i = get_local_id(0) + get_local_size(0) * get_group_id(0);
    i += get_local_id(1) + get_local_size(1) * get_local_size(0) * get_num_groups(0) * get_group_id(1);
    if (i < n)
        data[i] *= 2.0f;
}
