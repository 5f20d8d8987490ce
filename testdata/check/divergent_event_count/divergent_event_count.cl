// The work-items of the first half, which read nothing of the second copy, do not wait for it.
// expect: divergent
// finding A: barrier-divergence
kernel void halves(global const int *in, global int *out) {
    local int tile[16];
    int l = get_local_id(0);
    event_t done[2];
    done[0] = async_work_group_copy(tile, in, 8, 0);
    done[1] = async_work_group_copy(tile + 8, in + 8, 8, 0);
    wait_group_events(l < 8 ? 1 : 2, done); // <- A
    out[l] = tile[l];
}
