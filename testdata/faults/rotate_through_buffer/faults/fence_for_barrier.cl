// fault: data-race: `mem_fence` is no barrier.
//
// Rotates the elements of each group by one, through a buffer in global memory.
kernel void rotate_left(global int *tmp, global const int *in, global int *out) {
    size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    tmp[i] = in[i];
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    out[i] = tmp[i - l + (l + 1) % n];
}
