// A kernel for any number of dimensions, and for launches with an offset.
kernel void ids_dimensions(global int *out) {
    int r = 0;
    switch (get_work_dim()) { // -> case 1 covered, case 2 covered, case 3 covered, default infeasible
    case 1:
        r = 1;
        break;
    case 2:
        r = 2;
        break;
    case 3:
        r = 3;
        break;
    default:
        r = 4;
    }
    if (get_global_offset(0) != 0) // -> true covered, false covered
        r += 10;
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    size_t z = get_global_id(2) - get_global_offset(2);
    out[(z * get_global_size(1) + y) * get_global_size(0) + x] = r;
}
