// Hillis and Steele's scan with two halves of one local array.
// expect: clean all-interleavings
kernel void scan(global const int *in, global int *out, local int *s) {
    uint l = (uint)get_local_id(0), n = (uint)get_local_size(0), from = 0;
    s[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < n; d *= 2) {
        uint to = n - from;
        s[to + l] = s[from + l] + (l >= d ? s[from + l - d] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        from = to;
    }
    out[get_global_id(0)] = s[from + l];
}
