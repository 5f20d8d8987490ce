// Two copies of the whole group, one of them strided: where they go depends on the group and the turn, not on the work-item.
// expect: clean all-interleavings
kernel void halves(global const int *in, global int *out) {
    local int tile[16];
    int l = get_local_id(0);
    event_t done = 0;
    for (int turn = 0; turn < 2; turn++) {
        done = async_work_group_strided_copy(tile + 8 * turn, in + 16 * get_group_id(0) + turn, 8, 2, done);
    }
    wait_group_events(1, &done);
    out[get_global_id(0)] = tile[l];
}
