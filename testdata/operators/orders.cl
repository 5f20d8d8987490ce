// The first work-item publishes a number for the other groups, which take it if they see the flag.
//
// Fixture: the operator on memory orders (IMO), an example that is killed and one that survives.

__kernel void orders(__global int *data, __global atomic_int *flag, __global atomic_int *count, __global int *out)
{
    const int i = get_global_id(0);
    int seen = 7;
    if (i == 0) {
        data[0] = 7;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else if (get_group_id(0) > 0) {
        if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 1)
            seen = data[0];
    }
    atomic_fetch_add_explicit(count, 1, memory_order_acq_rel, memory_scope_device);
    out[i] = seen;
}
