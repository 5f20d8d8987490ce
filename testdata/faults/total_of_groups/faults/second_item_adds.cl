// fault: output: the second work-item adds, which groups of one do not have.
//
// The first work-item of each group adds the group's value to one total.
kernel void add_up(global const int *in, global int *total) {
    if (get_local_id(0) == 1)
        atomic_add(total, in[get_group_id(0)]);
}
