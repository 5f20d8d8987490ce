// fault: out-of-bounds: there is one round too many.
//
// In each round the group loads a tile and each work-item adds the element opposite to its own.
kernel void rounds(global const int *in, global int *out, int count) {
    local int tile[16];
    size_t l = get_local_id(0), n = get_local_size(0), all = get_global_size(0), i = get_global_id(0);
    int sum = 0;
    for (int r = 0; r <= count; r++) {
        tile[l] = in[r * all + i];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[n - 1 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = sum;
}
