// conformance: out=4096 global=256 local=64 values=uint
// A union of a long and two floats in local memory.
union Both { ulong whole; uint2 halves; float reals[2]; };

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0), l = get_local_id(0);
    __local union Both tile[64];
    tile[l].whole = ((__global const ulong*)(in + 5632))[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 other = tile[l ^ 1].halves;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l].reals[0] = (float)(other.x & 0xFFFF);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 r = (uint4)(other, tile[l ^ 2].halves);
    vstore4(r, g, (__global uint*)out);
}
