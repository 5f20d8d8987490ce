// The groups race for the total; one barrier is needed for the tile, and the one after it orders nothing that another one does not.
// expect: racy
// finding A: data-race inter-group global total
// finding B: redundant-barrier
kernel void sum(global const int *in, global int *out, global int *total) {
    local int tile[8];
    int i = get_local_id(0), n = get_local_size(0);
    tile[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int both = tile[i] + tile[n - 1 - i];
    barrier(CLK_LOCAL_MEM_FENCE); // <- B
    out[get_global_id(0)] = both;
    if (i == 0)
        total[0] += both; // <- A
}
