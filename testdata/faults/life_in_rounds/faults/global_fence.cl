// fault: data-race: the second barrier orders global memory, the cells are local.
//
// A cell lives if exactly one of its neighbours in the ring of the group did, for some rounds.
kernel void life(global const int *in, global int *out, int rounds) {
    local int cells[16];
    int l = (int)get_local_id(0), n = (int)get_local_size(0), i = (int)get_global_id(0);
    cells[l] = in[i];
    for (int r = 0; r < rounds; r++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int sum = cells[(l + 1) % n] + cells[(l + n - 1) % n];
        barrier(CLK_GLOBAL_MEM_FENCE);
        cells[l] = sum == 1;
    }
    out[i] = cells[l];
}
