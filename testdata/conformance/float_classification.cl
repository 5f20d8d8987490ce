// conformance: out=2048 global=256 local=64
// NaN, infinities and signed zeros in comparisons, relational builtins and min.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const float* from = (__global const float*)(in + 8192);
    float x = from[g], y = from[255 - g];
    int r = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | !(x < y) << 4 | !(x >= y) << 5 | (x == x) << 6 | (x > 0 || y > 0) << 7;
    r |= isnan(x) << 8 | isinf(x) << 9 | isfinite(x) << 10 | isnormal(x) << 11 | signbit(x) << 12 | isless(x, y) << 13 | isunordered(x, y) << 14 | islessgreater(x, y) << 15;
    int4 v = isgreater((float4)(x, y, 0.0f, -0.0f), (float4)(y, x, -0.0f, 0.0f)) + isnan((float4)(x)) * 2 + (x != 0.0f ? 8 : 0);
    ((__global int*)out)[g] = r;
    ((__global int*)out)[256 + g] = v.x + v.y * 16 + v.z * 256 + v.w * 4096 + as_int(fabs(x)) + as_int(copysign(1.0f, y));
}
