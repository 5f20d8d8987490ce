// conformance: out=2048 global=256 local=64 values=uint options=-cl-std=CL2.0
// Atomics of OpenCL 2.0 with orders and scopes, on local and global memory.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local atomic_uint sum, high;
    __local atomic_int low;
    __global atomic_uint* to = (__global atomic_uint*)out;
    size_t g = get_global_id(0), l = get_local_id(0);
    uint x = ((__global const uint*)(in + 2560))[g];
    if (l == 0) {
        atomic_init(&sum, 5u);
        atomic_init(&high, 0u);
        atomic_init(&low, 0x7FFFFFFF);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&sum, x, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_max_explicit(&high, x, memory_order_acq_rel, memory_scope_work_group);
    atomic_fetch_min(&low, (int)x);
    atomic_fetch_add_explicit(&to[0], x, memory_order_relaxed, memory_scope_device);
    atomic_fetch_or(&to[1], 1u << (x & 31));
    atomic_fetch_xor_explicit(&to[2], x, memory_order_release, memory_scope_device);
    atomic_fetch_max_explicit(&to[3], x, memory_order_relaxed, memory_scope_device);
    atomic_fetch_sub_explicit(&to[4], 3u, memory_order_seq_cst, memory_scope_device);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        uint group = 8 + 4 * get_group_id(0);
        atomic_store_explicit(&to[group], atomic_load_explicit(&sum, memory_order_acquire, memory_scope_work_group), memory_order_release, memory_scope_device);
        atomic_store(&to[group + 1], atomic_load(&high));
        atomic_store(&to[group + 2], (uint)atomic_exchange(&low, 3));
        uint expected = atomic_load(&sum);
        bool done = atomic_compare_exchange_strong(&sum, &expected, 9u);
        done &= !atomic_compare_exchange_strong_explicit(&sum, &expected, 10u, memory_order_acq_rel, memory_order_acquire, memory_scope_work_group);
        atomic_store(&to[group + 3], expected + done * 100);
    }
    ((__global uint*)out)[256 + g] = atomic_load_explicit(&high, memory_order_relaxed, memory_scope_work_group);
}
