// conformance: out=8192 global=256 local=64 values=uint
// select by sign bits of vectors and by truth of scalars, bitselect, shuffle and shuffle2.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint4 x = vload4(g & 63, (__global const uint*)(in + 2560)), y = x.wzyx + 7u;
    uint4 a = select(x, y, x) + select(x.x, y.y, (uint)g & 2u);
    uint4 b = bitselect(x, y, (uint4)0x00FF0FF0);
    float4 c = bitselect((float4)(1.0f), (float4)(2.0f), as_float4(x & 0x7FFFFFu));
    uint4 d = shuffle(x, y), e = shuffle2(x, y, (uint4)(7, 0, 5, (uint)g));
    uchar8 f = shuffle(vload16(g & 15, in + 256), (uchar8)(15, 0, 1, 14, (uchar)g, 3, 3, 255));
    vstore4(a ^ b ^ as_uint4(c), g, (__global uint*)out);
    vstore4(d + e * 3 + as_uint2(f).xyxy, g + 256, (__global uint*)out);
}
