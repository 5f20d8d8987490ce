// Work-group functions instead of hand-written reductions.
// expect: clean all-interleavings
kernel void normalise(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int sum = work_group_reduce_add(in[i]);
    int before = work_group_scan_exclusive_add(in[i]);
    int first = work_group_broadcast(in[i], 0);
    out[i] = work_group_any(in[i] < 0) ? first : sum - before;
}
