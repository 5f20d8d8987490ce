// Global ids outside the range that was launched.
kernel void dead_global_id(global int *out) {
    size_t x = get_global_id(0), y = get_global_id(1);
    int r = 0;
    if (x < get_global_offset(0)) // -> true infeasible
        r = 1;
    if (y - get_global_offset(1) >= get_global_size(1)) // -> true infeasible
        r |= 2;
    if (get_global_size(0) < get_local_size(0)) // -> true infeasible
        r |= 4;
    size_t at = (y - get_global_offset(1)) * get_global_size(0) + x - get_global_offset(0);
    out[at] = r;
}
