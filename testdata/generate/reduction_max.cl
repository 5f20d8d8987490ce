// The largest element of a group, and who has it.
__attribute__((reqd_work_group_size(8, 1, 1)))
kernel void reduction_max(global const int *in, global int *out, int threshold) {
    local int best[8];
    int l = get_local_id(0);
    best[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int top = best[0];
    for (int k = 1; k < 8; k++)
        top = max(top, best[k]);
    if (top == threshold + 4096 && best[l] == top && l == 6) // -> true covered
        out[get_global_id(0)] = 1;
    else
        out[get_global_id(0)] = 0;
}
