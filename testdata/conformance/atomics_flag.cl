// conformance: out=1024 global=256 local=64 values=uint options=-cl-std=CL2.0
// Flags: set once by one work-item of a group, cleared, set again.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local atomic_flag flag;
    __local atomic_uint winners;
    size_t g = get_global_id(0), l = get_local_id(0);
    if (l == 0) {
        atomic_flag_clear(&flag);
        atomic_init(&winners, 0u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!atomic_flag_test_and_set(&flag))
        atomic_fetch_add(&winners, 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint r = atomic_load(&winners);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 7) atomic_flag_clear_explicit(&flag, memory_order_release, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 9) r += 10 * atomic_flag_test_and_set_explicit(&flag, memory_order_acquire, memory_scope_work_group);
    if (l == 9) r += 100 * atomic_flag_test_and_set(&flag);
    ((__global uint*)out)[g] = r;
}
