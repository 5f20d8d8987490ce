// Neighbours in local memory, without a check at the group's edge, between two barriers.
kernel void fault_barrier(global const int *in, global int *out) {
    local int row[64];
    int l = get_local_id(0) & 63;
    row[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int left = row[l - 1 - 64 * (l == 0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (left > row[l]) // -> true covered-with-fault, false covered-with-fault
        out[get_global_id(0)] = 1;
    else
        out[get_global_id(0)] = 0;
}
