// conformance: out=8192 global=320 local=16 reference=simulator
// Work-items between two bounds of one dimension, written as generators write them. Drivers make bounds of their loops of these.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global int* to = (__global int*)out;
    __global const int* from = (__global const int*)in;
    int n = 301, gid = get_group_id(0), lid = get_local_id(0), i = 16 * gid + lid;
    if (-2 + -16 * gid + -1 * lid + n >= 0 && -1 + 16 * gid + lid >= 0) to[i] = from[i % 64 + 1] + i;
    if (n - 2 - 16 * gid - lid >= 0 && -1 + 16 * gid + lid >= 0) to[320 + i] = 1;
    if (-1 + 16 * gid + lid >= 0 && -2 + -16 * gid + -1 * lid + n >= 0) to[640 + i] = from[i % 32] * 3;
    if (-3 + -16 * gid + -1 * lid + n > -1) to[960 + i] = from[i % 16];
    if (0 > -2 + -16 * gid + -1 * lid + n) to[1280 + i] = 2;
    for (int k = 0; -2 + -16 * gid + -1 * lid + n >= k && k < 3; k++) to[1600 + i] += from[k] + i;
}
