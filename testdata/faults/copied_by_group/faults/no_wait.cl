// fault: data-race, unawaited-copy: nobody waits for the copy.
//
// The group copies its part of `in` at once, and each work-item takes the element opposite to its own.
kernel void whole(global const int *in, global int *out) {
    local int tile[16];
    int l = (int)get_local_id(0), n = (int)get_local_size(0), first = (int)get_group_id(0) * n;
    event_t done = async_work_group_copy(tile, in + first, n, 0);
    out[first + l] = tile[n - 1 - l];
}
