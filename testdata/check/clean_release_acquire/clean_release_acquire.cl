// A message passed by release and acquire: whoever sees the flag sees the data.
// expect: clean explored-schedules
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        data[0] = 42;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 1) {
        out[0] = data[0];
    }
}
