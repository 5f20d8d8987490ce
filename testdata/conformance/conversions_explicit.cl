// conformance: out=8192 global=256 local=64
// Conversions between integers: saturated ones, widening by sign, and to the same type.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    char c = ((__global const char*)in)[g];
    short s = ((__global const short*)(in + 512))[g];
    int i = ((__global const int*)(in + 1536))[g];
    uint u = ((__global const uint*)(in + 2560))[g];
    long l = ((__global const long*)(in + 3584))[g];
    __global int* to = (__global int*)out;
    to[g] = convert_int(s) + convert_int(c) * 3 + convert_uint(c);
    to[256 + g] = convert_char_sat(i) + convert_uchar_sat(i) * 1000;
    to[512 + g] = convert_short_sat(u) ^ convert_ushort_sat(l);
    to[768 + g] = convert_int_sat(l) + convert_int_sat(u);
    to[1024 + g] = convert_int(i) ^ (int)convert_uint(u) ^ convert_short(s) ^ convert_char(c);
    to[1280 + g] = (int)(convert_long(c) >> 32) + (int)(convert_ulong(s) >> 48);
    to[1536 + g] = convert_uint_sat(i) + convert_uint_sat(l);
    to[1792 + g] = convert_int4((char4)(c, -1, 1, c)).x * convert_int4((short4)s).w;
}
