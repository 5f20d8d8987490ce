// The tile is read before `wait_group_events`.
// expect: racy
// finding A: data-race intra-group local tile
// cause A: copy-in-flight
kernel void early(global const int *in, global int *out, local int *tile) {
    size_t n = get_local_size(0);
    event_t copied = async_work_group_copy(tile, in, n, 0); // <- A
    out[get_global_id(0)] = tile[get_local_id(0)]; // <- A
    wait_group_events(1, &copied);
}
