// The second copy shares the first one's event, but one work-item asks for a new event.
// expect: divergent
// finding A: barrier-divergence
// finding B: barrier-divergence
kernel void shared(global const int *in, global int *out) {
    local int tile[16];
    int l = get_local_id(0);
    event_t first = async_work_group_copy(tile, in, 8, 0);
    event_t given = 0;
    if (l != 15)
        given = first;
    event_t second = async_work_group_copy(tile + 8, in + 8, 8, given); // <- A
    event_t list[2] = {given, second};
    wait_group_events(2, list); // <- B
    out[l] = tile[l];
}
