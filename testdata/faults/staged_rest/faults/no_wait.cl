// fault: data-race, unawaited-copy: nobody waits for the copy.
//
// Each group copies its part of the first n elements into a tile; the last part may be shorter.
kernel void stage(global const int *in, global int *out, local int *tile, int n) {
    int l = (int)get_local_id(0), size = (int)get_local_size(0), first = (int)get_group_id(0) * size;
    int count = max(min(size, n - first), 0);
    event_t e = async_work_group_copy(tile, in + first, (size_t)count, 0);
    if (l < count)
        out[first + l] = tile[count - 1 - l];
}
