// The first work-item of the first group publishes a number for the other groups, which take it if they see the flag;
// all add to a sum and put down the highest of their numbers.
//
// Fixture: the operators of synchronisation on atomic instructions, which clang makes of its own builtins, instead of
// calls: of each, one that is killed and one that survives.

__kernel void atomic_instructions(__global int *data, __global atomic_int *flag, __global atomic_int *sums,
                                  __global int *highest, __global int *out)
{
    const int i = get_global_id(0);
    int seen = 7;
    if (i == 0) {
        data[0] = 7;
        __atomic_thread_fence(__ATOMIC_RELEASE);
        __opencl_atomic_store(flag, 1, memory_order_relaxed, memory_scope_device);
    } else if (get_group_id(0) > 0) {
        if (__opencl_atomic_load(flag, memory_order_acquire, memory_scope_device) == 1)
            seen = data[0];
    }
    __opencl_atomic_fetch_add(&sums[0], i, memory_order_acq_rel, memory_scope_device);
    __opencl_atomic_fetch_xor(&sums[1], 0, memory_order_relaxed, memory_scope_device);
    int old = __opencl_atomic_load(&sums[2], memory_order_relaxed, memory_scope_device);
    while (old < i && !__opencl_atomic_compare_exchange_strong(&sums[2], &old, i, memory_order_acq_rel,
                                                               memory_order_acquire, memory_scope_device))
        ;
    __atomic_fetch_max(&highest[0], i, __ATOMIC_RELAXED);
    out[i] = seen;
}
