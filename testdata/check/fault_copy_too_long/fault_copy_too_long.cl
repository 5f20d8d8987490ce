// An asynchronous copy of more than the buffer holds.
// expect: memory-fault
// finding A: out-of-bounds global in
kernel void stage(global const int *in, global int *out, local int *tile, int n) {
    event_t e = async_work_group_copy(tile, in, (size_t)n, 0); // <- A
    wait_group_events(1, &e);
    out[get_local_id(0)] = tile[get_local_id(0)];
}
