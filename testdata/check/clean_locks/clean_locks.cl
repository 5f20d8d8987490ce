// A spin lock around a counter, taken with acquire and given back with release.
// expect: clean explored-schedules
kernel void locked(global atomic_int *lock, global int *sum) {
    int open = 0;
    while (!atomic_compare_exchange_strong_explicit(lock, &open, 1, memory_order_acquire, memory_order_relaxed, memory_scope_device))
        open = 0;
    sum[0] += (int)get_global_id(0);
    atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
}
