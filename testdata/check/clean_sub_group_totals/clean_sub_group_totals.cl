// Sums of sub-groups by their functions, one local element for each, added up behind a barrier.
// expect: clean all-interleavings
kernel void total(global const int *in, global int *out) {
    local int part[4];
    int mine = sub_group_reduce_add(in[get_global_id(0)]);
    if (get_sub_group_local_id() == 0)
        part[get_sub_group_id()] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        int sum = 0;
        for (uint k = 0; k < get_num_sub_groups(); k++)
            sum += part[k];
        out[get_group_id(0)] = sum;
    }
}
