// fault: data-race: the flag is loaded without an atomic.
//
// The first work-item passes a message: it writes the data, then releases the flag; the others take it where they see
// the flag.
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
    int i = (int)get_global_id(0);
    if (i == 0) {
        data[0] = 42;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else if (((global int *)flag)[0] == 1) {
        out[i] = data[0];
    }
}
