// What no launch has, whatever the device: nothing of this leans on how large a group may be.
kernel void dead_launch(global int *out) {
    size_t local_0 = get_local_size(0), local_1 = get_local_size(1);
    int v = 0;
    if (get_local_id(0) >= local_0) // -> true infeasible
        v = 1;
    if (get_num_groups(0) * local_0 != get_global_size(0)) // -> true infeasible
        v += 2;
    if (get_work_dim() < 3 && get_global_size(2) != 1) // -> true infeasible
        v += 4;
    if (get_group_id(1) * local_1 + get_local_id(1) >= get_global_size(1)) // -> true infeasible/unknown
        v += 8;
    if (get_global_size(0) < get_num_groups(0)) // -> true infeasible/unknown
        v += 16;
    if (local_0 == 7 && get_global_size(0) % 7 == 1) // -> true infeasible/unknown
        v += 32;
    out[get_local_id(0)] = v;
}
