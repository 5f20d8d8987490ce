// One work-item of each group publishes a number for the others, which take it if they see the flag.
//
// Fixture: the operator on memory orders (IMO), an example that is killed and one that survives.

__kernel void orders(__global int *data, __global atomic_int *flag, __global atomic_int *count, __global int *out)
{
    const int i = get_global_id(0);
    if (get_local_id(0) == 0) {
        data[get_group_id(0)] = 7;
        atomic_store_explicit(&flag[get_group_id(0)], 1, memory_order_release, memory_scope_work_group);
    }
    int seen = 7;
    if (atomic_load_explicit(&flag[get_group_id(0)], memory_order_acquire, memory_scope_work_group) == 1)
        seen = data[get_group_id(0)];
    atomic_fetch_add_explicit(count, 1, memory_order_acq_rel, memory_scope_device);
    out[i] = seen;
}
