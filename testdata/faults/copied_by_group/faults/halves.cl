// fault: barrier-divergence: each half of the group asks for a copy of its own; but a copy is made by the whole
// group.
//
// The group copies its part of `in` at once, and each work-item takes the element opposite to its own.
kernel void whole(global const int *in, global int *out) {
    local int tile[16];
    int l = (int)get_local_id(0), n = (int)get_local_size(0), first = (int)get_group_id(0) * n;
    int start = l < n / 2 ? 0 : n / 2;
    event_t done = async_work_group_copy(tile + start, in + first + start, n - n / 2, 0);
    wait_group_events(1, &done);
    out[first + l] = tile[n - 1 - l];
}
