// fault: data-race: the barrier between reading and writing is missing.
//
// Odd work-items skip their step of the first round, but meet the barriers like the others.
kernel void skip_once(global const int *in, global int *out, int rounds) {
    local int tile[16];
    int l = (int)get_local_id(0), n = (int)get_local_size(0), i = (int)get_global_id(0);
    tile[l] = in[i];
    for (int k = 0; k < rounds; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int next = tile[(l + 1) % n];
        if (k == 0 && l % 2 == 1)
            continue;
        tile[l] += next;
    }
    out[i] = tile[l];
}
