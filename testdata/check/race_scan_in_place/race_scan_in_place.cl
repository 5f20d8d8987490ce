// Hillis and Steele's scan in one array: the read of a round races with its writes.
// expect: racy
// finding A: data-race intra-group local s
kernel void scan(global const int *in, global int *out, local int *s) {
    uint l = (uint)get_local_id(0), n = (uint)get_local_size(0);
    s[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < n; d *= 2) {
        if (l >= d)
            s[l] += s[l - d]; // <- A
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = s[l];
}
