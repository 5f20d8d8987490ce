// The last group to arrive adds up what the others left: ordered by one atomic that releases and acquires.
// expect: clean explored-schedules
kernel void total(global const int *in, global int *part, global atomic_int *done, global int *out) {
    size_t g = get_group_id(0), n = get_num_groups(0);
    if (get_local_id(0) == 0) {
        part[g] = in[2 * g] + in[2 * g + 1];
        int before = atomic_fetch_add_explicit(done, 1, memory_order_acq_rel, memory_scope_device);
        if (before == (int)n - 1) {
            int sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += part[k];
            out[0] = sum;
        }
    }
}
