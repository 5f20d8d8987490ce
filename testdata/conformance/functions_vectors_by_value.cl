// conformance: out=4096 global=256 local=64 values=uint
// Vectors of all sizes and structs as parameters and results of functions that are not inlined.
typedef struct { uint3 a; uchar b[5]; } Mixed;
__attribute__((noinline)) uint3 three(uchar3 a, ushort2 b) { return convert_uint3(a) + (uint3)(convert_uint2(b), 1); }
__attribute__((noinline)) uint16 wide(uint16 a, char c) { return a.sfedcba9876543210 + (uint)c; }
__attribute__((noinline)) Mixed mixed(Mixed m, bool flag) { m.b[flag]++; m.a.y = flag ? m.a.x : m.b[4]; return m; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint3 t = three(vload3(g & 63, in + 256), vload2(g & 63, (__global const ushort*)(in + 1024)));
    uint16 w = wide(vload16(g & 15, (__global const uint*)(in + 2560)), (char)-(int)(g & 127));
    Mixed m = mixed((Mixed){ t, { 1, 2, 3, 4, (uchar)g } }, g & 1);
    vstore4(w.s048c + (uint4)(t, 0) + (uint4)(m.a, m.b[0] + m.b[1] * 256), g, (__global uint*)out);
}
