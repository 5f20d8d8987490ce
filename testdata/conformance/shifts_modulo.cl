// conformance: out=4096 global=256 local=64 values=uint
// OpenCL takes a shift's amount modulo the width.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint x = ((__global const uint*)(in + 2560))[g];
    ulong l = ((__global const ulong*)(in + 5632))[g];
    uchar4 c = vload4(g & 63, in + 256);
    uint n = g;
    __global uint* to = (__global uint*)out;
    to[g] = (x << n) + (x >> n);
    to[256 + g] = (uint)((int)x >> n);
    to[512 + g] = (uint)((l << n) ^ (l >> n) >> 32);
    to[768 + g] = as_uint(c << (uchar4)(n & 255)) ^ as_uint(c >> (uchar4)(n & 255));
}
