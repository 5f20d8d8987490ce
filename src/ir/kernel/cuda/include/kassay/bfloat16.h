/* Numbers of 16 bits with a float's exponent: computed as floats, and rounded to the nearest even. */
#pragma once
#include <kassay/half.h>

/* To a float that any rounding to fewer bits rounds as it would round the number itself: what is cut off shows in its last bit. */
KASSAY_BOTH float __kassay_narrowed(float x) { return x; }
KASSAY_BOTH float __kassay_narrowed(double x) {
    float near = (float)x;
    unsigned bits = __builtin_bit_cast(unsigned, near);
    double off = (double)near - x;
    if (!(off < 0 || off > 0) || (bits & 0x7fffffffu) >= 0x7f800000u) return near;
    if ((off > 0) == (x > 0)) bits--;
    return __builtin_bit_cast(float, bits | 1);
}
KASSAY_BOTH float __kassay_narrowed(int x) { return __kassay_narrowed((double)x); }
KASSAY_BOTH float __kassay_narrowed(unsigned x) { return __kassay_narrowed((double)x); }
KASSAY_BOTH float __kassay_narrowed(unsigned long long x) {
    /* A double holds 53 bits. */
    return __kassay_narrowed((double)(x >> 53 ? x >> 11 << 11 | (unsigned long long)((x & 0x7ff) != 0) << 11 : x));
}
KASSAY_BOTH float __kassay_narrowed(long long x) {
    return x < 0 ? -__kassay_narrowed(0 - (unsigned long long)x) : __kassay_narrowed((unsigned long long)x);
}
KASSAY_BOTH float __kassay_narrowed(long x) { return __kassay_narrowed((long long)x); }
KASSAY_BOTH float __kassay_narrowed(unsigned long x) { return __kassay_narrowed((unsigned long long)x); }
/* `rn`, `rz`, `rd`, `ru`: the bits of a number that a float becomes. */
KASSAY_BOTH unsigned short __kassay_bfloat_rn(unsigned u) { return (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16); }
KASSAY_BOTH unsigned short __kassay_bfloat_rz(unsigned u) { return (unsigned short)(u >> 16); }
KASSAY_BOTH unsigned short __kassay_bfloat_rd(unsigned u) {
    return (unsigned short)((u >> 16) + (u >> 31 && (u & 0xffff)));
}
KASSAY_BOTH unsigned short __kassay_bfloat_ru(unsigned u) {
    return (unsigned short)((u >> 16) + (!(u >> 31) && (u & 0xffff)));
}
#define KASSAY_BFLOAT_BITS(HOW, X)                                                                                     \
    ((__builtin_bit_cast(unsigned, X) & 0x7fffffffu) > 0x7f800000u ? (unsigned short)0x7fff                            \
                                                                   : __kassay_bfloat_##HOW(__builtin_bit_cast(unsigned, X)))

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __nv_bfloat162_raw {
    unsigned short x, y;
};
struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    KASSAY_MEMBER __nv_bfloat16(float x) : bits(KASSAY_BFLOAT_BITS(rn, x)) {}
    KASSAY_MEMBER __nv_bfloat16(double x) : __nv_bfloat16(__kassay_narrowed(x)) {}
    KASSAY_MEMBER __nv_bfloat16(int x) : __nv_bfloat16(__kassay_narrowed(x)) {}
    KASSAY_MEMBER __nv_bfloat16(unsigned x) : __nv_bfloat16(__kassay_narrowed(x)) {}
    KASSAY_MEMBER __nv_bfloat16(long x) : __nv_bfloat16(__kassay_narrowed(x)) {}
    KASSAY_MEMBER __nv_bfloat16(unsigned long x) : __nv_bfloat16(__kassay_narrowed(x)) {}
    KASSAY_MEMBER __nv_bfloat16(long long x) : __nv_bfloat16(__kassay_narrowed(x)) {}
    KASSAY_MEMBER __nv_bfloat16(unsigned long long x) : __nv_bfloat16(__kassay_narrowed(x)) {}
    KASSAY_MEMBER __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
    KASSAY_MEMBER operator __nv_bfloat16_raw() const { return {bits}; }
    KASSAY_MEMBER operator float() const { return __builtin_bit_cast(float, (unsigned)bits << 16); }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    KASSAY_MEMBER __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
    KASSAY_MEMBER __nv_bfloat162(__nv_bfloat162_raw raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
#define KASSAY_BFLOAT(O, NAME)                                                                                         \
    KASSAY_BOTH __nv_bfloat16 operator O(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a O (float)b); } \
    KASSAY_BOTH __nv_bfloat162 operator O(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x O b.x, a.y O b.y}; }       \
    KASSAY_BOTH __nv_bfloat16 &operator O##=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = a O b; }                  \
    KASSAY_BOTH __nv_bfloat162 &operator O##=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = a O b; }               \
    KASSAY_BOTH __nv_bfloat16 NAME(__nv_bfloat16 a, __nv_bfloat16 b) { return a O b; }                                 \
    KASSAY_BOTH __nv_bfloat16 NAME##_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return a O b; }                            \
    KASSAY_BOTH __nv_bfloat162 NAME##2(__nv_bfloat162 a, __nv_bfloat162 b) { return a O b; }                           \
    KASSAY_BOTH __nv_bfloat162 NAME##2_rn(__nv_bfloat162 a, __nv_bfloat162 b) { return a O b; }
KASSAY_BFLOAT(+, __hadd) KASSAY_BFLOAT(-, __hsub) KASSAY_BFLOAT(*, __hmul) KASSAY_BFLOAT(/, __hdiv)
#define KASSAY_BFLOAT_COMPARISON(O)                                                                                    \
    KASSAY_BOTH bool operator O(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a O (float)b; }
KASSAY_BFLOAT_COMPARISON(<) KASSAY_BFLOAT_COMPARISON(>) KASSAY_BFLOAT_COMPARISON(<=) KASSAY_BFLOAT_COMPARISON(>=)
KASSAY_BFLOAT_COMPARISON(==) KASSAY_BFLOAT_COMPARISON(!=)
KASSAY_BOTH __nv_bfloat16 operator-(__nv_bfloat16 a) { return __nv_bfloat16(-(float)a); }
KASSAY_BOTH __nv_bfloat162 operator-(__nv_bfloat162 a) { return {-a.x, -a.y}; }
KASSAY_BOTH __nv_bfloat16 __hneg(__nv_bfloat16 a) { return -a; }
KASSAY_COMPARISONS_16(__nv_bfloat16, __nv_bfloat162)
KASSAY_PAIRS_COMPARED(__nv_bfloat162)
KASSAY_STEPS_16(__nv_bfloat16)

KASSAY_BOTH __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
KASSAY_BOTH __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
#define KASSAY_BFLOAT_ROUNDED(NAME, FROM, HOW)                                                                         \
    KASSAY_BOTH __nv_bfloat16 NAME##_##HOW(FROM x) {                                                                   \
        float narrowed = __kassay_narrowed(x);                                                                         \
        return __nv_bfloat16_raw{KASSAY_BFLOAT_BITS(HOW, narrowed)};                                                   \
    }
#define KASSAY_BFLOAT_CONVERSIONS(NAME, FROM)                                                                          \
    KASSAY_BFLOAT_ROUNDED(NAME, FROM, rn) KASSAY_BFLOAT_ROUNDED(NAME, FROM, rz)                                        \
    KASSAY_BFLOAT_ROUNDED(NAME, FROM, rd) KASSAY_BFLOAT_ROUNDED(NAME, FROM, ru)
KASSAY_BFLOAT_CONVERSIONS(__float2bfloat16, float)
KASSAY_BFLOAT_CONVERSIONS(__short2bfloat16, short) KASSAY_BFLOAT_CONVERSIONS(__ushort2bfloat16, unsigned short)
KASSAY_BFLOAT_CONVERSIONS(__int2bfloat16, int) KASSAY_BFLOAT_CONVERSIONS(__uint2bfloat16, unsigned)
KASSAY_BFLOAT_CONVERSIONS(__ll2bfloat16, long long) KASSAY_BFLOAT_CONVERSIONS(__ull2bfloat16, unsigned long long)
KASSAY_TO_INTEGERS(__nv_bfloat16, __bfloat162)
KASSAY_BOTH float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
KASSAY_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
KASSAY_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
KASSAY_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
KASSAY_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
KASSAY_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 x) { return {x.x, x.y}; }
KASSAY_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
KASSAY_BOTH float2 __bfloat1622float2(__nv_bfloat162 x) { return float2{x.x, x.y}; }
KASSAY_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
KASSAY_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
KASSAY_BOTH float __low2float(__nv_bfloat162 x) { return x.x; }
KASSAY_BOTH float __high2float(__nv_bfloat162 x) { return x.y; }
KASSAY_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 x) { return {x.x, x.x}; }
KASSAY_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 x) { return {x.y, x.y}; }
KASSAY_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
KASSAY_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }
KASSAY_BOTH __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 x) { return {x.y, x.x}; }
KASSAY_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
KASSAY_BOTH short __bfloat16_as_short(__nv_bfloat16 x) { return (short)x.bits; }
KASSAY_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16_raw{x}; }
KASSAY_BOTH __nv_bfloat16 __short_as_bfloat16(short x) { return __nv_bfloat16_raw{(unsigned short)x}; }

#define KASSAY_BFLOAT_FUNCTION(NAME, OF)                                                                               \
    KASSAY_INNER __nv_bfloat16 h##NAME(__nv_bfloat16 a) { return OF((float)a); }                                       \
    KASSAY_PAIR_1(__nv_bfloat162, h2##NAME, h##NAME)
KASSAY_BFLOAT_FUNCTION(exp, expf) KASSAY_BFLOAT_FUNCTION(exp2, exp2f) KASSAY_BFLOAT_FUNCTION(exp10, exp10f)
KASSAY_BFLOAT_FUNCTION(log, logf) KASSAY_BFLOAT_FUNCTION(log2, log2f) KASSAY_BFLOAT_FUNCTION(log10, log10f)
KASSAY_BFLOAT_FUNCTION(sqrt, sqrtf) KASSAY_BFLOAT_FUNCTION(rsqrt, rsqrtf) KASSAY_BFLOAT_FUNCTION(sin, sinf)
KASSAY_BFLOAT_FUNCTION(cos, cosf) KASSAY_BFLOAT_FUNCTION(floor, floorf) KASSAY_BFLOAT_FUNCTION(ceil, ceilf)
KASSAY_BFLOAT_FUNCTION(trunc, truncf) KASSAY_BFLOAT_FUNCTION(rint, rintf) KASSAY_BFLOAT_FUNCTION(tanh, tanhf)
KASSAY_BFLOAT_FUNCTION(tanh_approx, tanhf) KASSAY_BFLOAT_FUNCTION(rcp, 1.0f /)
KASSAY_INNER __nv_bfloat16 __habs(__nv_bfloat16 a) { return __nv_bfloat16_raw{(unsigned short)(a.bits & 0x7fff)}; }
KASSAY_INNER __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return fmaf(a, b, c); }
KASSAY_INNER __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return fmaxf(a, b); }
KASSAY_INNER __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return fminf(a, b); }
KASSAY_ARITHMETIC_16(__nv_bfloat16, __nv_bfloat162)
KASSAY_ATOMIC_SUM(__nv_bfloat16, unsigned short) KASSAY_ATOMIC_SUM(__nv_bfloat162, unsigned)
