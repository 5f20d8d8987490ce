// fault: out-of-bounds: reads one element further to the left.
//
// Hillis and Steele's inclusive scan of each group's part, in one array.
kernel void scan(global const int *in, global int *out, local int *s) {
    uint l = (uint)get_local_id(0), n = (uint)get_local_size(0);
    s[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < n; d *= 2) {
        int before = l >= d ? s[l - d - 1] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        s[l] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = s[l];
}
