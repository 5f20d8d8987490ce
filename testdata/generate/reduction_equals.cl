// The sum of a group in local memory is compared with a number.
kernel void reduction_equals(global const int *in, global int *out) {
    local int tmp[16];
    int l = get_local_id(0);
    for (int k = l; k < 16; k += get_local_size(0))
        tmp[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        tmp[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 8; s > 0; s >>= 1) {
        if (l < s)
            tmp[l] += tmp[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) {
        if (tmp[0] == 31415926) // -> true covered, false covered
            out[get_group_id(0)] = 1;
        else
            out[get_group_id(0)] = 0;
    }
}
