// An event that is assigned: `=` of what is no number has no other operators, and nothing to negate.
kernel void k(global const int *in, global int *out, local int *tile) {
    size_t l = get_local_id(0), n = get_local_size(0), base = get_group_id(0) * n;
    event_t e = async_work_group_copy(tile, in + base, n, 0);
    wait_group_events(1, &e);
    tile[l] += 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + base, tile, n, 0);
    wait_group_events(1, &e);
}
