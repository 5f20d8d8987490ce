// Two copies on the way at a time, in a list that turns round: which event stands where hangs on the turn, not on the work-item. The last
// wait's list has the same events for all, though each half of the group writes them down in another order.
// expect: clean all-interleavings
kernel void turns(global const int *in, global int *out) {
    local int tile[2][16];
    int l = get_local_id(0);
    event_t done[2];
    int sum = 0;
    done[0] = async_work_group_copy(tile[0], in, 16, 0);
    for (int turn = 0; turn < 3; turn++) {
        int next = (turn + 1) % 2;
        done[next] = async_work_group_copy(tile[next], in + 4 * turn, 16, 0);
        wait_group_events(1, &done[turn % 2]);
        sum += tile[turn % 2][15 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    wait_group_events(1, &done[1]);
    event_t first = async_work_group_copy(tile[0], in, 16, 0);
    event_t second = async_work_group_copy(tile[1], in + 16, 16, 0);
    event_t last[2] = {first, second};
    if (l >= 8) {
        last[0] = second;
        last[1] = first;
    }
    wait_group_events(2, last);
    out[l] = sum + tile[0][l] + tile[1][15 - l];
}
