// conformance: out=2048 global=256 local=64 values=uint
// memcpy-like copies of structs in local memory, with padding that no one reads.
typedef struct { bool first; double wide; bool last; } Padded;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0), l = get_local_id(0);
    __local Padded tile[65];
    tile[l].first = g & 1;
    tile[l].wide = (double)g * 0.5;
    tile[l].last = g & 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    Padded own = tile[l ^ 5];
    own.first = !own.first;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global uint*)out)[g] = tile[63 - l].first * 4 + tile[63 - l].last + (uint)(tile[63 - l].wide * 16.0);
    ((__global uint*)out)[256 + g] = sizeof(Padded);
}
