// Ids beyond what they count up to.
kernel void dead_local_id(global int *out) {
    size_t i = get_global_id(0);
    int r = 0;
    if (get_local_id(0) >= get_local_size(0)) // -> true infeasible
        r = 1;
    if (get_group_id(0) == get_num_groups(0)) // -> true infeasible
        r |= 2;
    if (get_group_id(0) > get_global_size(0)) // -> true infeasible/unknown
        r |= 4;
    if (get_local_size(0) == 0) // -> true infeasible
        r |= 8;
    if (get_local_id(0) > get_group_id(0)) // -> true covered, false covered
        r |= 16;
    out[i - get_global_offset(0)] = r;
}
