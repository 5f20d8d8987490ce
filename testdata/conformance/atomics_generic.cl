// conformance: out=1024 global=256 local=64 values=uint options=-cl-std=CL2.0
// Atomics through generic pointers, which point to local or global memory.
void count(atomic_uint* to, uint x)
{
    atomic_fetch_add_explicit(to, x, memory_order_relaxed, memory_scope_device);
    atomic_fetch_max(to + 1, x);
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local atomic_uint cells[2];
    size_t g = get_global_id(0), l = get_local_id(0);
    if (l < 2) atomic_init(&cells[l], 0u);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_uint* to = (atomic_uint*)(__global atomic_uint*)out + 2 * get_group_id(0);
    count(g & 1 ? to : cells, ((__global const uint*)(in + 2560))[g]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 2) ((__global uint*)out)[128 + 2 * get_group_id(0) + l] = atomic_load(&cells[l]);
}
