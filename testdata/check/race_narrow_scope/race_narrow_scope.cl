// Atomics of work-group scope on a counter that several groups share.
// expect: racy
// finding A: data-race inter-group global counter
// cause A: narrow-scope
kernel void count(global atomic_int *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_work_group); // <- A
}
