// The first work-item of a group reads the group's offset, all add their number.
// The right form of `testdata/check/race_group_scalar`.
kernel void offset_by(global const int *in, global int *out) {
    local int base;
    if (get_local_id(0) == 0)
        base = in[get_group_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = base + (int)get_local_id(0);
}
