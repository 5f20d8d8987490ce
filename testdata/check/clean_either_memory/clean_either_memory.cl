// One generic pointer, to local memory in some groups and to global memory in others; the barrier names both.
// expect: clean all-interleavings
kernel void turn_round(global int *spill, global const int *in, global int *out, int fits) {
    local int near[8];
    int l = (int)get_local_id(0), n = (int)get_local_size(0), g = (int)get_group_id(0);
    int *room = g < fits ? (int *)near : (int *)(spill + g * n);
    room[l] = in[get_global_id(0)];
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = room[n - 1 - l];
}
