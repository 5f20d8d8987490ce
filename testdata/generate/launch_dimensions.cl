// The number of dimensions, with sizes that only more of them have.
kernel void launch_dimensions(global int *out, int n) {
    int v = 0;
    if (get_work_dim() == 3 && get_global_size(2) == 7 && n == 4711) // -> true covered
        v = 1;
    else if (get_work_dim() == 2 && get_num_groups(1) == 11) // -> true covered
        v = 2;
    out[get_local_id(0)] = v;
}
