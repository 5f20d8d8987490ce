// fault: data-race: the scope of release and acquire is the work-group, but other groups take the message.
//
// The first work-item passes a message: it writes the data, then releases the flag; the others take it where they see
// the flag.
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
    int i = (int)get_global_id(0);
    if (i == 0) {
        data[0] = 42;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_work_group);
    } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_work_group) == 1) {
        out[i] = data[0];
    }
}
