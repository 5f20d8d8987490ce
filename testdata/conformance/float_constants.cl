// conformance: out=2048 global=256 local=64 values=uint
// Literals of float and double, hexadecimal ones, macros of limits, implicit widening.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    float list[8] = { 0x1.8p3f, 1e-3f, .5f, 3.f, FLT_MAX, FLT_MIN, -0.0f, INFINITY };
    double wide[4] = { 0.1, 0x1p-1074, DBL_MAX, 1.0 / 3.0 };
    ((__global uint*)out)[g] = as_uint(list[g & 7]) + (uint)INT_MIN + UCHAR_MAX + CHAR_BIT + SHRT_MIN;
    ((__global uint*)out)[256 + g] = as_uint2(wide[g & 3]).x ^ as_uint2(wide[g >> 2 & 3]).y ^ (uint)(ULONG_MAX >> 32) ^ as_uint((float)0.1);
}
