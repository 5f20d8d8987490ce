// One dimension: numbers of groups and sizes that no usual launch has.
kernel void launch_many_groups(global int *out) {
    int v = 0;
    if (get_group_id(0) > 67) // -> true covered
        v = 1;
    if (get_global_size(0) == 3 * get_local_size(0)) // -> true covered, false covered
        v += 2;
    if (get_global_size(0) == 5000) // -> true covered
        v += 4;
    if (get_group_id(0) == 77 && get_local_id(0) == 19) // -> true covered
        v += 8;
    out[get_global_id(0)] = v;
}
