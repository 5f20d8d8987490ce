// A tree reduction with all its barriers.
// expect: clean all-interleavings
kernel void sum(global const int *in, global int *out, local int *part) {
    uint l = (uint)get_local_id(0);
    part[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = (uint)get_local_size(0) / 2; width > 0; width /= 2) {
        if (l < width)
            part[l] += part[l + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
