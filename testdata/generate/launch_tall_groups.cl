// Two dimensions: a group of more than a hundred rows, and then a plane of exactly five groups of three.
kernel void launch_tall_groups(global int *out) {
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    int v = 0;
    if (get_local_id(1) < 100) // -> false covered
        v = 1;
    if (get_num_groups(1) == 5 && get_num_groups(0) == 3) // -> true covered
        v += 2;
    out[at] = v;
}
