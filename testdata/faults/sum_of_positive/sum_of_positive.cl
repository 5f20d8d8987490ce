// Work-items with a positive value get the sum of the group's positive values.
// The right form of `testdata/check/divergent_collective`.
kernel void partial(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int mine = in[i] > 0 ? in[i] : 0;
    int sum = work_group_reduce_add(mine);
    if (in[i] > 0)
        out[i] = sum;
}
