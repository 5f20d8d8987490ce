/* Numbers of 16 bits with a float's exponent: computed as floats, and rounded to the nearest even. */
#pragma once
#include <kassay/half.h>

struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    KASSAY_MEMBER __nv_bfloat16(float x) {
        unsigned u = __builtin_bit_cast(unsigned, x);
        bool is_nan = (u & 0x7fffffffu) > 0x7f800000u;
        bits = is_nan ? 0x7fff : (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
    }
    KASSAY_MEMBER __nv_bfloat16(double x) : __nv_bfloat16((float)x) {}
    KASSAY_MEMBER __nv_bfloat16(int x) : __nv_bfloat16((float)x) {}
    KASSAY_MEMBER operator float() const { return __builtin_bit_cast(float, (unsigned)bits << 16); }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    KASSAY_MEMBER __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
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
    KASSAY_BOTH __nv_bfloat162 NAME##2(__nv_bfloat162 a, __nv_bfloat162 b) { return a O b; }
KASSAY_BFLOAT(+, __hadd) KASSAY_BFLOAT(-, __hsub) KASSAY_BFLOAT(*, __hmul) KASSAY_BFLOAT(/, __hdiv)
#define KASSAY_BFLOAT_COMPARISON(O, NAME)                                                                              \
    KASSAY_BOTH bool operator O(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a O (float)b; }                      \
    KASSAY_BOTH bool __h##NAME(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a O (float)b; }
KASSAY_BFLOAT_COMPARISON(<, lt) KASSAY_BFLOAT_COMPARISON(>, gt) KASSAY_BFLOAT_COMPARISON(<=, le)
KASSAY_BFLOAT_COMPARISON(>=, ge) KASSAY_BFLOAT_COMPARISON(==, eq) KASSAY_BFLOAT_COMPARISON(!=, ne)
KASSAY_BOTH __nv_bfloat16 operator-(__nv_bfloat16 a) { return __nv_bfloat16(-(float)a); }
KASSAY_BOTH __nv_bfloat162 operator-(__nv_bfloat162 a) { return {-a.x, -a.y}; }
KASSAY_BOTH __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
KASSAY_BOTH __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
KASSAY_BOTH __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
KASSAY_BOTH float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
KASSAY_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
KASSAY_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
KASSAY_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
KASSAY_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
KASSAY_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
KASSAY_BOTH float2 __bfloat1622float2(__nv_bfloat162 x) { return float2{x.x, x.y}; }
KASSAY_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
KASSAY_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
KASSAY_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
KASSAY_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
    __nv_bfloat16 v;
    v.bits = x;
    return v;
}
KASSAY_INNER __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return fmaf(a, b, c); }
KASSAY_INNER __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return fmaxf(a, b); }
KASSAY_INNER __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return fminf(a, b); }
KASSAY_INNER __nv_bfloat16 atomicAdd(__nv_bfloat16 *, __nv_bfloat16 v) { __kassay_half_atomic(); return v; }
KASSAY_INNER __nv_bfloat162 atomicAdd(__nv_bfloat162 *, __nv_bfloat162 v) { __kassay_half_atomic(); return v; }

