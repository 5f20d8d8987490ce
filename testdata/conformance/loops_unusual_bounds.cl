// conformance: out=1024 global=256 local=64
// Loops over unsigned numbers down to 0, over narrow types that wrap, by strides and by multiplication, over vectors.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint r = 0;
    for (uint i = (uint)(g & 15); i-- > 0;)
        r = r * 3 + i;
    for (uchar c = 250; c > 5; c++)
        r ^= c * 7u;
    for (ulong s = 1; s != 0 && s < 1UL << 40; s *= 8)
        r += (uint)(s >> 3);
    for (int i = -5; i <= 5; i += 3)
        r -= (uint)i;
    int4 v = (int4)(0, 1, 2, 3);
    for (; any(v < (int4)20); v += (int4)(1, 2, 3, 4))
        r += (uint)(v.x * v.w);
    ((__global uint*)out)[g] = r;
}
