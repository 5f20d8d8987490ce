// fault: data-race: the scope of the atomic is the work-group, but several groups share the counter.
//
// Counts all work-items whose value is positive, with an atomic that the whole device sees.
kernel void count(global const int *in, int n, global atomic_int *counter) {
    int i = (int)get_global_id(0);
    if (i < n && in[i] > 0)
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_work_group);
}
