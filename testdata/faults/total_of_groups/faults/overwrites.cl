// fault: output: the total is exchanged instead of raised.
//
// The first work-item of each group adds the group's value to one total.
kernel void add_up(global const int *in, global int *total) {
    if (get_local_id(0) == 0)
        atomic_xchg(total, in[get_group_id(0)]);
}
