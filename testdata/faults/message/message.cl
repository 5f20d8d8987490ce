// The first work-item passes a message: it writes the data, then releases the flag; the others take it where they see
// the flag.
// The right form of `testdata/check/race_relaxed_message`.
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
    int i = (int)get_global_id(0);
    if (i == 0) {
        data[0] = 42;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 1) {
        out[i] = data[0];
    }
}
