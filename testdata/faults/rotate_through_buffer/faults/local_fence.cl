// fault: data-race: the barrier orders local memory, the buffer is global.
//
// Rotates the elements of each group by one, through a buffer in global memory.
kernel void rotate_left(global int *tmp, global const int *in, global int *out) {
    size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    tmp[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tmp[i - l + (l + 1) % n];
}
