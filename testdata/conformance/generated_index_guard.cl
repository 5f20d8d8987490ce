// conformance: out=1024 global=256 local=64 n=201 reference=simulator
// The guard that generators of code write around every size. Intel's runtimes of 2024.2 to 2026.2 let work-items behind the end pass.
__kernel void calls(__global uchar* out, __global const uchar* in, int n)
{
    __global int* to = (__global int*)out;
    if (-1 + -64 * (int)get_group_id(0) + -1 * (int)get_local_id(0) + n >= 0)
        to[64 * get_group_id(0) + get_local_id(0)] = 2 * ((__global const short*)(in + 512))[64 * get_group_id(0) + get_local_id(0)] / 4;
}
