// fault: barrier-divergence: only work-items with a positive value call the work-group function.
//
// Work-items with a positive value get the sum of the group's positive values.
kernel void partial(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    if (in[i] > 0)
        out[i] = work_group_reduce_add(in[i]);
}
