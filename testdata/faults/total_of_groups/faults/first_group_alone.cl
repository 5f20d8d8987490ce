// fault: output: only the first work-item of all adds.
//
// The first work-item of each group adds the group's value to one total.
kernel void add_up(global const int *in, global int *total) {
    if (get_global_id(0) == 0)
        atomic_add(total, in[get_group_id(0)]);
}
