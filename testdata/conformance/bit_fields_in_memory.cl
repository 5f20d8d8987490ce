// conformance: out=2048 global=256 local=64 values=uint reference=simulator
// Bit-fields in global and local memory: a write leaves its neighbours alone.
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
typedef struct { uint red : 5; uint green : 6; uint blue : 5; uint : 0; uint alpha : 9; } Colour;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global const uint* from = (__global const uint*)(in + 2560);
    __global Colour* to = (__global Colour*)out;
    __local Colour tile[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    ((__global uint*)out)[2 * g] = 0x12345678;
    ((__global uint*)out)[2 * g + 1] = 0x9ABCDEF0;
    *(__local ulong*)&tile[l] = 0;
    tile[l].red = from[g];
    tile[l].blue = from[g] >> 7;
    tile[l].alpha = from[g] >> 13;
    barrier(CLK_LOCAL_MEM_FENCE);
    to[g].green = tile[63 - l].blue + tile[l].red;
    to[g].alpha = tile[63 - l].alpha;
    to[g].red++;
}
