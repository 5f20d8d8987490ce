// conformance: out=1024 global=256 local=64
// mem_fence and its relatives beside barriers change nothing.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    __global int* to = (__global int*)out;
    tile[l] = ((__global const int*)(in + 1536))[g];
    mem_fence(CLK_LOCAL_MEM_FENCE);
    read_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    to[g] = tile[63 - l];
    write_mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_GLOBAL_MEM_FENCE);
    int other = to[g ^ 1];
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    to[g] = other + tile[l];
}
