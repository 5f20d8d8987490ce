// conformance: out=4096 global=256 local=64 values=ulong reference=simulator
// Bit-fields of 64-bit units, and of narrow ones.
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
struct Wide { ulong low : 37; ulong high : 20; long top : 7; };
struct Narrow { uchar a : 3; uchar b : 4; short c : 9; ushort d : 7; };

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global const ulong* from = (__global const ulong*)(in + 5632);
    __global ulong* to = (__global ulong*)out;
    size_t g = get_global_id(0);
    ulong x = from[g];
    struct Wide w = { x, x >> 13, (long)(x >> 57) - 64 };
    w.low += 3;
    w.high -= w.low;
    to[g] = w.low + w.high * 5 + (ulong)w.top;
    struct Narrow n;
    n.a = x;
    n.b = x >> 2;
    n.c = (short)((x >> 20 & 511) - 256);
    n.d = x >> 33;
    to[256 + g] = (ulong)(n.a + n.b * 10 + n.c * 1000 + n.d * 1000000);
}
