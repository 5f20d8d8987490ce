// conformance: out=4096 global=256 local=64 values=uint
// Writes to some components, repeated components, odd, even, low and high halves.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint8 v = vload8(g & 31, (__global const uint*)(in + 2560));
    uint4 w = v.odd;
    w.xz = v.even.yw;
    w.hi = w.yy + v.s70;
    v.lo = w.wzyx;
    v.s3210 += (uint4)1;
    v.even.lo = v.hi.odd;
    uint3 t = v.s135;
    t.zx = t.xy;
    uint4 r = v.s0246 ^ v.hi ^ (uint4)(t, 9);
    r.y = t.z;
    vstore4(r, g, (__global uint*)out);
}
