// conformance: out=1024 global=256 local=64 options=-cl-std=CL2.0
// work_group_barrier with scopes, and fences of C11's kind.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    __global int* to = (__global int*)out;
    tile[l] = ((__global const int*)(in + 1536))[g];
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    to[g] = tile[l ^ 3];
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);
    int other = to[g ^ 7];
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);
    tile[l] = other;
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    to[g] = tile[63 - l];
}
