// fault: output: negative values are summed, too.
//
// Work-items with a positive value get the sum of the group's positive values.
kernel void partial(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int mine = in[i];
    int sum = work_group_reduce_add(mine);
    if (in[i] > 0)
        out[i] = sum;
}
