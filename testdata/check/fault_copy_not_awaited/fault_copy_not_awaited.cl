// The sorted halves go back by two copies, of which only the first is waited for: the group may end before the second is
// done.
// expect: memory-fault
// finding A: unawaited-copy
kernel void exchange_halves(global const float *in, global float *out) {
    local float tile[16];
    size_t l = get_local_id(0), n = get_local_size(0), first = get_group_id(0) * n;
    tile[l] = in[first + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t low = async_work_group_copy(out + first, tile + n / 2, n / 2, 0);
    async_work_group_copy(out + first + n / 2, tile, n / 2, 0); // <- A
    wait_group_events(1, &low);
}
