// fault: data-race, unawaited-copy: nobody waits for the copy.
//
// Each group copies its part of `in` into a tile and writes it back in reverse.
kernel void staged(global const int *in, global int *out, local int *tile) {
    size_t n = get_local_size(0), l = get_local_id(0), first = get_group_id(0) * n;
    event_t copied = async_work_group_copy(tile, in + first, n, 0);
    out[first + l] = tile[n - 1 - l];
}
