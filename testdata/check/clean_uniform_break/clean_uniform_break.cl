// The loop with barriers is left early, at a value that all of the group read at the same place.
// expect: clean all-interleavings
kernel void until_zero(global const int *steps, global int *out, local int *tile) {
    int l = (int)get_local_id(0), n = (int)get_local_size(0);
    tile[l] = l;
    for (int k = 0; k < 6; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int by = steps[6 * get_group_id(0) + k];
        if (by == 0)
            break;
        int taken = tile[(l + by) % n];
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l] = taken;
    }
    out[get_global_id(0)] = tile[l];
}
