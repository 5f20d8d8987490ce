// fault: uninitialised: the second work-item writes the scalar, which groups of one do not have.
//
// The first work-item of a group reads the group's offset, all add their number.
kernel void offset_by(global const int *in, global int *out) {
    local int base;
    if (get_local_id(0) == 1)
        base = in[get_group_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = base + (int)get_local_id(0);
}
