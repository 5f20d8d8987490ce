// fault: data-race: the total is raised without an atomic.
//
// The first work-item of each group adds the group's value to one total.
kernel void add_up(global const int *in, global int *total) {
    if (get_local_id(0) == 0)
        total[0] += in[get_group_id(0)];
}
