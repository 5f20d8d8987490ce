// conformance: out=1024 global=256 local=64
// The comma operator, compound assignments, increments in expressions with defined order, short circuits with side effects.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint x = ((__global const uint*)(in + 2560))[g];
    uint a = x & 15, b = x >> 28, c = 0, d;
    d = (a++, b += a, c = b--, a ^ c);
    if (a > 8 && b++ > 4 || (c += 2) & 1) d += 50;
    d += a > b ? (a -= 1) : (b -= 1);
    uint* p = &c;
    *p++ += 7;
    d <<= a & 3;
    d |= (b, c);
    ((__global uint*)out)[g] = d * 31 + a * 7 + b * 3 + c;
}
