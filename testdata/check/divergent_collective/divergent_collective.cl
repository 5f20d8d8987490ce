// A work-group function is met by all items or by none: here by some.
// expect: divergent
// finding A: barrier-divergence
kernel void partial(global const int *in, global int *out) {
    int l = (int)get_local_id(0);
    if (in[l] > 0)
        out[l] = work_group_reduce_add(in[l]); // <- A
}
