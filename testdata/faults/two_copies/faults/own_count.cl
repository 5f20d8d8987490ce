// fault: barrier-divergence: the first half, which reads nothing of the second copy, does not wait for it.
//
// Two copies, one for each half of the tile; all wait for both.
kernel void halves(global const int *in, global int *out) {
    local int tile[16];
    int l = (int)get_local_id(0), first = (int)get_group_id(0) * 16;
    event_t done[2];
    done[0] = async_work_group_copy(tile, in + first, 8, 0);
    done[1] = async_work_group_copy(tile + 8, in + first + 8, 8, 0);
    wait_group_events(l < 8 ? 1 : 2, done);
    out[first + l] = tile[l];
}
