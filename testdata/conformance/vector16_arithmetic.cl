// conformance: out=16384 global=256 local=64 values=uint
// Operators on vectors of 16, shifts by more than the width (taken modulo), scalars widened.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint16 x = vload16(g & 15, (__global const uint*)(in + 2560));
    uint16 y = x.sfedcba9876543210;
    uint16 r = (x + y * 3u) ^ (x >> y) ^ (y << (uint16)(uint)g);
    r -= x / (y | 1u);
    r ^= x % (y | 1u);
    r += ~x & y | 5u;
    r++;
    vstore16(r, g, (__global uint*)out);
}
