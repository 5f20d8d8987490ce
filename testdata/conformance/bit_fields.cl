// conformance: out=2048 global=256 local=64 values=uint reference=simulator
// Signed and unsigned bit-fields that share and cross bytes. OpenCL has none, but clang does.
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
struct Packet { uint version : 3; uint kind : 5; int offset : 7; uint length : 11; int sign : 1; uint rest : 5; };

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global const uint* from = (__global const uint*)(in + 2560);
    __global uint* to = (__global uint*)out;
    size_t g = get_global_id(0);
    struct Packet p = { 0 };
    uint x = from[g];
    p.version = x;
    p.kind = x >> 3;
    p.offset = (int)(x >> 8 & 127) - 64;
    p.length = x >> 15;
    p.sign = -(int)(x >> 31);
    p.rest = 9;
    p.length += 1000;
    p.kind ^= p.version;
    p.offset = p.offset / 3;
    to[g] = p.version + p.kind * 8 + p.length * 256 + p.rest;
    to[256 + g] = (uint)(p.offset * 16 + p.sign);
}
