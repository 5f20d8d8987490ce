// A work-item by its group and its place in the group, both packed into one argument.
kernel void arg_is_id_group(global int *trace, uint packed) {
    uint group = packed >> 8, lane = packed & 0xff;
    int i = get_global_id(0);
    trace[i] = 0;
    if (get_group_id(0) == group && group != 0) { // -> true covered
        if (get_local_id(0) == lane) // -> true covered, false covered
            trace[i] = 1;
    }
}
