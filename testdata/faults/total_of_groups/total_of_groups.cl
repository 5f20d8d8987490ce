// The first work-item of each group adds the group's value to one total.
// The right form of `testdata/check/race_group_totals`.
kernel void add_up(global const int *in, global int *total) {
    if (get_local_id(0) == 0)
        atomic_add(total, in[get_group_id(0)]);
}
