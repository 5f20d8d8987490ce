// A message passed with relaxed atomics: the flag orders nothing.
// expect: racy explored-schedules
// finding A: data-race inter-group global data
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        data[0] = 42; // <- A
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else if (atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device) == 1) {
        out[0] = data[0]; // <- A
    }
}
