// fault: data-race: the value is read while it is written.
//
// Sums the groups' values round by round, until the group's total passes a limit.
kernel void leave(global const int *in, global int *out, int rounds, int limit) {
    local int total;
    int l = (int)get_local_id(0), n = (int)get_local_size(0), mine = 0;
    for (int r = 0; r < rounds; r++) {
        if (l == 0)
            total = in[get_group_id(0) * rounds + r];
        int value = total;
        barrier(CLK_LOCAL_MEM_FENCE);
        mine += value;
        if (mine > limit)
            break;
    }
    out[get_global_id(0)] = mine * n + l;
}
