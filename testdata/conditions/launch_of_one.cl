// Powers of the stride come from a table, the last of them at one before it: a launch of one work-item has none.
// expect: conditional `get_global_size(0) >= 2`
kernel void leap(global const uint *steps, global uint *out, uint n) {
    local uint table[32];
    const uint l = get_local_id(0), stride = get_global_size(0);
    if (l < 32)
        table[l] = steps[l];
    for (uint k = get_local_size(0) + l; k < 32; k += get_local_size(0))
        table[k] = steps[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint last = 31 - clz(stride);
    for (uint i = get_global_id(0); i < n; i += stride)
        out[i] = i ^ table[last - 1];
}
