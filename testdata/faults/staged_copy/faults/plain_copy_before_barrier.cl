// fault: data-race: instead of an asynchronous copy each work-item copies its element; the barrier orders global
// memory only.
//
// Each group copies its part of `in` into a tile and writes it back in reverse.
kernel void staged(global const int *in, global int *out, local int *tile) {
    size_t n = get_local_size(0), l = get_local_id(0), first = get_group_id(0) * n;
    tile[l] = in[first + l];
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[first + l] = tile[n - 1 - l];
}
