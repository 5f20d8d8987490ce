/* Histogram with the atomics of OpenCL C 2.0, a count of the bins in use and the largest value.
 *
 * Each work-group collects in local memory and adds its bins to the global ones at the end; who first fills a global bin is
 * decided by a compare-exchange. Fixture for: C11-style atomics with orders and scopes, work_group_barrier with a scope,
 * atomics in local and global memory, OpenCL C 3.0. The result does not depend on the order of work-items.
 */

#define BINS 16

__kernel void atomics_cl20(__global const uint *in, uint n, uint shift, __global atomic_uint *bins,
                           __global atomic_int *taken, __global atomic_uint *used, __global atomic_uint *largest)
{
    __local atomic_uint local_bins[BINS];
    __local atomic_uint local_largest;
    uint lid = get_local_id(0);

    for (uint b = lid; b < BINS; b += get_local_size(0))
        atomic_init(&local_bins[b], 0);
    if (lid == 0)
        atomic_init(&local_largest, 0);
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);

    uint gid = get_global_id(0);
    if (gid < n) {
        uint value = in[gid];
        uint bin = min(value >> shift, (uint)(BINS - 1));
        atomic_fetch_add_explicit(&local_bins[bin], 1, memory_order_relaxed, memory_scope_work_group);
        atomic_fetch_max_explicit(&local_largest, value, memory_order_relaxed, memory_scope_work_group);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);

    for (uint b = lid; b < BINS; b += get_local_size(0)) {
        uint count = atomic_load_explicit(&local_bins[b], memory_order_relaxed, memory_scope_work_group);
        if (count == 0)
            continue;
        atomic_fetch_add_explicit(&bins[b], count, memory_order_relaxed, memory_scope_device);
        int nobody = 0;
        if (atomic_compare_exchange_strong_explicit(&taken[b], &nobody, 1, memory_order_acq_rel, memory_order_relaxed,
                                                    memory_scope_device))
            atomic_fetch_add_explicit(used, 1, memory_order_relaxed, memory_scope_device);
    }
    if (lid == 0) {
        uint most = atomic_load_explicit(&local_largest, memory_order_relaxed, memory_scope_work_group);
        atomic_fetch_max_explicit(largest, most, memory_order_relaxed, memory_scope_device);
    }
}
