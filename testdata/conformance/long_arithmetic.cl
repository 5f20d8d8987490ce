// conformance: out=8192 global=256 local=64 values=ulong
// 64-bit shifts, multiplication, high halves, rotation, counts.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const ulong* from = (__global const ulong*)(in + 5632);
    ulong x = from[g], y = from[255 - g];
    uint n = x & 63;
    __global ulong* to = (__global ulong*)out;
    to[g] = (x << n | x >> (63 - n) >> 1) * y;
    to[256 + g] = mul_hi(x, y) + (ulong)mul_hi((long)x, (long)y);
    to[512 + g] = rotate(x, y) ^ clz(x) * 1000 ^ popcount(y);
    to[768 + g] = (ulong)((long)x >> n) + (uint)x * (ulong)(uint)y + (ulong)((int)x * (long)(int)y);
}
