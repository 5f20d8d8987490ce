// Slots claimed in a local queue, then a range of the global one claimed for the whole group and filled by neighbours.
// expect: clean explored-schedules
kernel void gather_odd(global const int *in, global int *out, global int *total) {
    local int queue[16];
    local int count, base;
    int l = (int)get_local_id(0);
    if (l == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = in[get_global_id(0)];
    if (v & 1)
        queue[atomic_inc(&count)] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        base = atomic_add(total, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = l; k < count; k += (int)get_local_size(0))
        out[base + k] = queue[k];
}
