// A kernel of a fixed work-group size.
__attribute__((reqd_work_group_size(16, 4, 1)))
kernel void dead_group_size(global int *out) {
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    int r = 0;
    if (get_local_size(0) != 16) // -> true infeasible
        r = 1;
    if (get_local_id(0) > 15) // -> true infeasible
        r |= 2;
    if (get_local_id(2) != 0) // -> true infeasible
        r |= 4;
    if (get_local_id(1) * 16 + get_local_id(0) == 64) // -> true infeasible
        r |= 8;
    if (get_local_id(1) * 16 + get_local_id(0) == 63) // -> true covered
        r |= 16;
    out[at] = r;
}
