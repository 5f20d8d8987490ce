// Items of a group hand a token on with release and acquire: each waits for the one before it.
// expect: clean explored-schedules
kernel void relay(global atomic_int *turn, global int *out) {
    int l = (int)get_local_id(0);
    while (atomic_load_explicit(turn, memory_order_acquire, memory_scope_work_group) != l) {
    }
    out[0] = out[0] * 3 + l;
    atomic_store_explicit(turn, l + 1, memory_order_release, memory_scope_work_group);
}
