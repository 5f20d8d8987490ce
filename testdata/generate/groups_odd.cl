// What only the last of an odd number of groups does, and what only a launch of at least five groups does.
kernel void groups_odd(global int *partial) {
    size_t groups = get_num_groups(0), group = get_group_id(0);
    int v = 0;
    if (groups % 2 == 1 && group == groups - 1 && groups > 1) // -> true covered
        v = 1;
    if (groups >= 5 && group == 3) // -> true covered
        v += 2;
    if (get_local_id(0) == 0)
        partial[group] = v;
}
