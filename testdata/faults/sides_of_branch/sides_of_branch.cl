// Even and odd work-items store different values, and each reads what its neighbour stored.
// The right form of `testdata/check/divergent_two_barriers`.
kernel void sides(global const int *in, global int *out, global int *tmp) {
    int l = (int)get_local_id(0), i = (int)get_global_id(0), n = (int)get_local_size(0);
    if (l % 2 == 0) {
        tmp[i] = in[i];
    } else {
        tmp[i] = -in[i];
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = tmp[i - l + n - 1 - l];
}
