// conformance: out=4 global=1 local=1
// printf gives 0 where it succeeds.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    *(__global int*)out = printf("%d\n", 5);
}
