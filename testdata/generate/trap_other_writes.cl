// Looks impossible, but between the two looks another work-item has written.
kernel void trap_other_writes(global const int *in, global int *out) {
    local int tile[8];
    int l = get_local_id(0) & 7;
    if (get_local_id(0) < 8)
        tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int before = tile[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 1)
        tile[0] = before + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int r = 0;
    if (before == 41) {
        if (tile[0] == 42) // -> true covered, false covered/unknown
            r = 1;
    }
    out[get_global_id(0)] = r;
}
