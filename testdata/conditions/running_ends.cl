// Each group keeps as many of its values as there are places from the end of the group before it to its own: ends do not fall.
// expect: clean
kernel void keep(global const int *ends, global const float *values, global float *kept) {
    const int group = get_group_id(0), l = get_local_id(0);
    const int start = group == 0 ? 0 : ends[group - 1];
    const int count = group == 0 ? ends[0] : ends[group] - ends[group - 1];
    if (l < count)
        kept[start + l] = values[get_global_id(0)];
}
