// Three dimensions: sizes of groups in all of them at once, a group far along the last, and a scalar that goes with the sizes.
kernel void launch_volume(global int *out, int n, int depth) {
    int v = 0;
    if (get_local_size(0) == 3 && get_local_size(1) == 5 && get_local_size(2) == 7) // -> true covered
        v = 1;
    if (get_group_id(2) == 9 && get_local_id(2) == 1) // -> true covered
        v += 2;
    if (get_global_size(2) == depth && depth == 26) // -> true covered
        v += 4;
    int i = get_global_id(0);
    if (i < n)
        atomic_or(&out[i], v); // Rows and layers meet here, in any order.
}
