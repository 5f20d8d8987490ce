// One value too many: the last one of a group and the first one of the next have one place, however ends rise.
// expect: racy
kernel void keep(global const int *ends, global const float *values, global float *kept) {
    const int group = get_group_id(0), l = get_local_id(0);
    const int start = group == 0 ? 0 : ends[group - 1];
    const int count = group == 0 ? ends[0] : ends[group] - ends[group - 1];
    if (l <= count)
        kept[start + l] = values[get_global_id(0)];
}
