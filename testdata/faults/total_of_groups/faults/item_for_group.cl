// fault: out-of-bounds: the value is looked up by the number of the work-item.
//
// The first work-item of each group adds the group's value to one total.
kernel void add_up(global const int *in, global int *total) {
    if (get_local_id(0) == 0)
        atomic_add(total, in[get_global_id(0)]);
}
