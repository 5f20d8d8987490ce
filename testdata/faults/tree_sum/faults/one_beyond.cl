// fault: out-of-bounds: the guard lets one work-item too many through.
//
// The sum of each group's values by a tree; groups have a power of two of work-items.
kernel void sum(global const int *in, global int *out, local int *part, int n) {
    int l = (int)get_local_id(0), i = (int)get_global_id(0);
    part[l] = i <= n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = (int)get_local_size(0) / 2; width > 0; width /= 2) {
        if (l < width)
            part[l] += part[l + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
