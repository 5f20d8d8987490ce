// Sizes that are asked for behind a barrier, with local memory that has to grow with the group.
kernel void launch_barrier(global const int *in, global int *out, local int *row) {
    int l = get_local_id(0);
    row[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = row[l];
    if (l >= 37) // -> true covered, false covered
        sum += row[l - 37];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_size(0) == 96 && get_num_groups(0) == 11) // -> true covered
        sum = -sum;
    out[get_global_id(0)] = sum;
}
