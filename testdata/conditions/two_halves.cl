// Each work-item has an element in either half of the array: a group is as large as one half.
// expect: clean
kernel void swap_halves(global const int *in, global int *out) {
    local int both[256];
    const int l = get_local_id(0), base = get_group_id(0) * 256;
    both[l] = in[base + l];
    both[l + 128] = in[base + l + 128];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + l] = both[(l + 128) % 256];
    out[base + l + 128] = both[l];
}
