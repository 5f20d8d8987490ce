// fault: output: all groups take the offset of the first one.
//
// The first work-item of a group reads the group's offset, all add their number.
kernel void offset_by(global const int *in, global int *out) {
    local int base;
    if (get_local_id(0) == 0)
        base = in[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = base + (int)get_local_id(0);
}
