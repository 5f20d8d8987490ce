/* Numbers of 8 bits, E4M3 (no infinities, 448 at most) and E5M2, as OCP's "8-bit Floating Point Specification" has them:
 * computed as floats. */
#pragma once
#include <kassay/bfloat16.h>

enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;

/* `M` bits of mantissa; exponents are biased by `BIAS`. */
template <int M, int BIAS> KASSAY_BOTH float __kassay_from_fp8(unsigned char bits) {
    int exponent = bits >> M & (0x7f >> M), mantissa = bits & ((1 << M) - 1);
    float sign = bits & 0x80 ? -1.0f : 1.0f;
    if (M == 3 && (bits & 0x7f) == 0x7f) return __builtin_nanf("");
    if (M == 2 && exponent == 31) return mantissa ? __builtin_nanf("") : sign * __builtin_inff();
    int power = exponent ? exponent - BIAS - M : 1 - BIAS - M;
    if (exponent) mantissa |= 1 << M;
    /* A power of two that a float has. */
    return sign * (float)mantissa * __builtin_bit_cast(float, (unsigned)(power + 127) << 23);
}
/* To the nearest, ties to even. */
template <int M, int BIAS> KASSAY_BOTH unsigned char __kassay_to_fp8(float x, bool saturates) {
    unsigned u = __builtin_bit_cast(unsigned, x), sign = u >> 24 & 0x80, magnitude = u & 0x7fffffff;
    unsigned greatest = M == 3 ? 0x7e : 0x7b, beyond = M == 3 ? 0x7f : 0x7c;
    if (magnitude > 0x7f800000) return (unsigned char)(sign | 0x7f);
    int exponent = (int)(magnitude >> 23) - 127;
    int dropped = 23 - M + (exponent < 1 - BIAS ? 1 - BIAS - exponent : 0);
    unsigned whole = exponent < -126 ? 0 : (magnitude & 0x7fffff) | 0x800000;
    if (dropped > 30) return (unsigned char)sign;
    unsigned kept = whole >> dropped, rest = whole & ((1u << dropped) - 1), half = 1u << (dropped - 1);
    kept += rest > half || (rest == half && kept & 1);
    unsigned bits = exponent < 1 - BIAS ? kept : kept + ((unsigned)(exponent + BIAS - 1) << M);
    if (bits > greatest || magnitude == 0x7f800000) bits = saturates ? greatest : beyond;
    return (unsigned char)(sign | bits);
}

#define KASSAY_FP8(NAME, M, BIAS)                                                                                      \
    struct NAME {                                                                                                      \
        __nv_fp8_storage_t __x;                                                                                        \
        NAME() = default;                                                                                              \
        explicit KASSAY_MEMBER NAME(float x) : __x(__kassay_to_fp8<M, BIAS>(x, true)) {}                               \
        explicit KASSAY_MEMBER NAME(double x) : NAME((float)x) {}                                                      \
        explicit KASSAY_MEMBER NAME(int x) : NAME((float)x) {}                                                         \
        explicit KASSAY_MEMBER NAME(__half x) : NAME((float)x) {}                                                      \
        explicit KASSAY_MEMBER NAME(__nv_bfloat16 x) : NAME((float)x) {}                                               \
        explicit KASSAY_MEMBER operator float() const { return __kassay_from_fp8<M, BIAS>(__x); }                      \
        explicit KASSAY_MEMBER operator __half() const { return __half((float)*this); }                                \
        explicit KASSAY_MEMBER operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }                  \
    };
KASSAY_FP8(__nv_fp8_e4m3, 3, 7)
KASSAY_FP8(__nv_fp8_e5m2, 2, 15)
#define KASSAY_FP8_VECTORS(NAME, ONE)                                                                                  \
    struct __attribute__((aligned(2))) __nv_fp8x2_##NAME {                                                             \
        __nv_fp8x2_storage_t __x;                                                                                      \
        __nv_fp8x2_##NAME() = default;                                                                                 \
        explicit KASSAY_MEMBER __nv_fp8x2_##NAME(float2 v) : __x((unsigned short)(ONE(v.x).__x | ONE(v.y).__x << 8)) {} \
        explicit KASSAY_MEMBER __nv_fp8x2_##NAME(__half2 v) : __nv_fp8x2_##NAME(float2{v.x, v.y}) {}                   \
        explicit KASSAY_MEMBER __nv_fp8x2_##NAME(__nv_bfloat162 v) : __nv_fp8x2_##NAME(float2{v.x, v.y}) {}            \
        explicit KASSAY_MEMBER operator float2() const { return float2{at(0), at(1)}; }                                \
        KASSAY_MEMBER float at(int i) const {                                                                          \
            ONE one;                                                                                                   \
            one.__x = (unsigned char)(__x >> 8 * i);                                                                   \
            return (float)one;                                                                                         \
        }                                                                                                              \
    };                                                                                                                 \
    struct __attribute__((aligned(4))) __nv_fp8x4_##NAME {                                                             \
        __nv_fp8x4_storage_t __x;                                                                                      \
        __nv_fp8x4_##NAME() = default;                                                                                 \
        explicit KASSAY_MEMBER __nv_fp8x4_##NAME(float4 v)                                                             \
            : __x((unsigned)ONE(v.x).__x | (unsigned)ONE(v.y).__x << 8 | (unsigned)ONE(v.z).__x << 16 |                \
                  (unsigned)ONE(v.w).__x << 24) {}                                                                     \
        explicit KASSAY_MEMBER __nv_fp8x4_##NAME(__half2 low, __half2 high)                                            \
            : __nv_fp8x4_##NAME(float4{low.x, low.y, high.x, high.y}) {}                                               \
        explicit KASSAY_MEMBER __nv_fp8x4_##NAME(__nv_bfloat162 low, __nv_bfloat162 high)                              \
            : __nv_fp8x4_##NAME(float4{low.x, low.y, high.x, high.y}) {}                                               \
        explicit KASSAY_MEMBER operator float4() const { return float4{at(0), at(1), at(2), at(3)}; }                  \
        KASSAY_MEMBER float at(int i) const {                                                                          \
            ONE one;                                                                                                   \
            one.__x = (unsigned char)(__x >> 8 * i);                                                                   \
            return (float)one;                                                                                         \
        }                                                                                                              \
    };
KASSAY_FP8_VECTORS(e4m3, __nv_fp8_e4m3)
KASSAY_FP8_VECTORS(e5m2, __nv_fp8_e5m2)
KASSAY_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t s, __nv_fp8_interpretation_t i) {
    return i == __NV_E4M3 ? __kassay_to_fp8<3, 7>(x, s == __NV_SATFINITE) : __kassay_to_fp8<2, 15>(x, s == __NV_SATFINITE);
}
