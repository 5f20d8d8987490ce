// fault: output: sums the work-items up to this one.
//
// Work-items with a positive value get the sum of the group's positive values.
kernel void partial(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int mine = in[i] > 0 ? in[i] : 0;
    int sum = work_group_scan_inclusive_add(mine);
    if (in[i] > 0)
        out[i] = sum;
}
