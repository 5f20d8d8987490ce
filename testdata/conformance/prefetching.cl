// conformance: out=1024 global=256 local=64
// prefetch of scalars and vectors changes nothing.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const int* from = (__global const int*)(in + 1536);
    prefetch(from + g, 1);
    prefetch((__global const float4*)in, 16);
    prefetch((__global const uchar3*)in, 4);
    ((__global int*)out)[g] = from[255 - g];
}
