// Places to write come from a scan over the group, so that they differ and stay in the group's own part.
// expect: clean all-interleavings
kernel void compact(global const int *in, global int *out, global int *counts) {
    size_t i = get_global_id(0), base = get_group_id(0) * get_local_size(0);
    int keep = in[i] % 3 == 0;
    int at = work_group_scan_exclusive_add(keep);
    int total = work_group_reduce_add(keep);
    if (keep)
        out[base + at] = in[i];
    if (get_local_id(0) == 0)
        counts[get_group_id(0)] = total;
}
