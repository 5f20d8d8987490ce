// fault: data-race, unawaited-copy: nobody waits for the second copy.
//
// Two copies, one for each half of the tile; all wait for both.
kernel void halves(global const int *in, global int *out) {
    local int tile[16];
    int l = (int)get_local_id(0), first = (int)get_group_id(0) * 16;
    event_t done[2];
    done[0] = async_work_group_copy(tile, in + first, 8, 0);
    done[1] = async_work_group_copy(tile + 8, in + first + 8, 8, 0);
    wait_group_events(1, done);
    out[first + l] = tile[l];
}
