// Each half of the group asks for a copy of its own; but a copy is made by the whole group, and has one destination and one source.
// expect: divergent
// finding A: barrier-divergence
kernel void halves(global const int *in, global int *out) {
    local int tile[16];
    int l = get_local_id(0);
    int start = l / 8 * 8;
    event_t done = async_work_group_copy(tile + start, in + start, 8, 0); // <- A
    wait_group_events(1, &done);
    out[l] = tile[l];
}
