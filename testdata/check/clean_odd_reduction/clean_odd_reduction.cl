// A sum over any number of items: what is left over in the middle waits for the next round.
// expect: clean all-interleavings
kernel void sum(global const int *in, global int *out, local int *part, int n) {
    int l = (int)get_local_id(0), size = (int)get_local_size(0), mine = 0;
    for (int i = (int)get_global_id(0); i < n; i += (int)get_global_size(0))
        mine += in[i];
    part[l] = mine;
    while (size > 1) {
        int upper = (size + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l + upper < size)
            part[l] += part[l + upper];
        size = upper;
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
