// conformance: out=8192 global=256 local=64 values=uint
// Bits of one type as another.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint x = ((__global const uint*)(in + 2560))[g];
    ulong l = ((__global const ulong*)(in + 5632))[g];
    float f = (float)(short)x;
    short2 s = as_short2(x);
    uchar8 b = as_uchar8(l);
    uchar4 t = as_uchar4(as_uchar3(b.s0123));
    uint2 p = as_uint2(l);
    __global uint* to = (__global uint*)out + 8 * g;
    to[0] = as_uint(s.yx);
    to[1] = as_uint(f) ^ as_uint(as_float(x & 0x3FFFFFFF));
    to[2] = p.x + p.y;
    to[3] = b.s0 + b.s7 * 256;
    to[4] = t.x + t.z * 256;
    to[5] = as_int(as_char4(x).wzyx);
    to[6] = (uint)as_ulong(as_short4(l).s3210);
    to[7] = as_uint4((float4)(f, 1.0f, 2.0f, 3.0f)).y;
}
