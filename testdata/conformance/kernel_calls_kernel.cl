// conformance: out=2048 global=256 local=64
// A kernel that is called by another one as a function.
__kernel void filled(__global int* to, int value)
{
    to[get_global_id(0)] = value + (int)get_local_id(0);
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    filled((__global int*)out, in[300]);
    filled((__global int*)out + 256, ((__global const int*)out)[get_global_id(0)] * 3);
}
