// Dimensions that OpenCL does not have.
kernel void dead_dimension(global int *out) {
    int r = 0;
    if (get_work_dim() > 3) // -> true infeasible
        r = 1;
    if (get_work_dim() == 0) // -> true infeasible
        r |= 2;
    if (get_global_id(3) != 0) // -> true infeasible
        r |= 4;
    if (get_global_size(3) != 1) // -> true infeasible
        r |= 8;
    if (get_work_dim() == 1 && get_global_id(1) > get_global_offset(1)) // -> true infeasible
        r |= 16;
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    size_t z = get_global_id(2) - get_global_offset(2);
    out[(z * get_global_size(1) + y) * get_global_size(0) + x] = r;
}
