// conformance: out=4096 global=256 local=64 values=uchar
// Images as bytes: RGBA to grey and to 565 with vectors of uchar and saturating arithmetic.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uchar4 p = vload4(g & 63, in + 256);
    ushort3 wide = convert_ushort3(p.xyz);
    uchar grey = (uchar)((wide.x * 77 + wide.y * 150 + wide.z * 29) >> 8);
    ushort packed = (ushort)((p.x & 0xF8) << 8 | (p.y & 0xFC) << 3 | p.z >> 3);
    uchar4 brighter = add_sat(p, (uchar4)100), blend = rhadd(p, brighter.wzyx);
    out[g] = grey;
    ((__global ushort*)(out + 512))[g] = packed;
    ((__global uchar4*)(out + 1024))[g] = brighter;
    ((__global uchar4*)(out + 2048))[g] = blend;
    ((__global char4*)(out + 3072))[g] = convert_char4_sat(convert_short4(p) - (short4)128);
}
