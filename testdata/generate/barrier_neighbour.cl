// What another work-item wrote to local memory before a barrier.
kernel void barrier_neighbour(global const int *in, global int *out, local int *tile) {
    int l = get_local_id(0), size = get_local_size(0);
    tile[l] = in[get_global_id(0)] * 2 + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int left = tile[(l + size - 1) % size];
    int r = 0;
    if (left == 86421) // -> true covered
        r = 1;
    if (left - tile[l] == 500 && size > 1) // -> true covered
        r |= 2;
    out[get_global_id(0)] = r;
}
