/* Halves (`__half`) and pairs of them. Arithmetic is IEEE's for 16 bits. */
#pragma once
#include <kassay/numbers16.h>

struct __half_raw {
    unsigned short x;
};
struct __half2_raw {
    unsigned short x, y;
};
struct __half {
    _Float16 v;
    __half() = default;
    KASSAY_MEMBER __half(_Float16 x) : v(x) {}
    KASSAY_MEMBER __half(float x) : v((_Float16)x) {}
    KASSAY_MEMBER __half(double x) : v((_Float16)x) {}
    KASSAY_MEMBER __half(int x) : v((_Float16)x) {}
    KASSAY_MEMBER __half(unsigned x) : v((_Float16)x) {}
    KASSAY_MEMBER __half(long x) : v((_Float16)x) {}
    KASSAY_MEMBER __half(unsigned long x) : v((_Float16)x) {}
    KASSAY_MEMBER __half(long long x) : v((_Float16)x) {}
    KASSAY_MEMBER __half(unsigned long long x) : v((_Float16)x) {}
    KASSAY_MEMBER __half(__half_raw raw) : v(__builtin_bit_cast(_Float16, raw.x)) {}
    KASSAY_MEMBER operator float() const { return (float)v; }
    KASSAY_MEMBER operator __half_raw() const { return {__builtin_bit_cast(unsigned short, v)}; }
};
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    KASSAY_MEMBER __half2(__half a, __half b) : x(a), y(b) {}
    KASSAY_MEMBER __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
};
typedef __half half;
typedef __half __nv_half;
typedef __half nv_half;
typedef __half2 half2;
typedef __half2 __nv_half2;
typedef __half2 nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

#define KASSAY_HALF_ARITHMETIC(O, NAME)                                                                                \
    KASSAY_BOTH __half operator O(__half a, __half b) { return __half((_Float16)(a.v O b.v)); }                        \
    KASSAY_BOTH __half2 operator O(__half2 a, __half2 b) { return __half2(a.x O b.x, a.y O b.y); }                     \
    KASSAY_BOTH __half &operator O##=(__half &a, __half b) { return a = a O b; }                                       \
    KASSAY_BOTH __half2 &operator O##=(__half2 &a, __half2 b) { return a = a O b; }                                    \
    KASSAY_BOTH __half NAME(__half a, __half b) { return a O b; }                                                      \
    KASSAY_BOTH __half NAME##_rn(__half a, __half b) { return a O b; }                                                 \
    KASSAY_BOTH __half2 NAME##2(__half2 a, __half2 b) { return a O b; }                                                \
    KASSAY_BOTH __half2 NAME##2_rn(__half2 a, __half2 b) { return a O b; }
KASSAY_HALF_ARITHMETIC(+, __hadd) KASSAY_HALF_ARITHMETIC(-, __hsub) KASSAY_HALF_ARITHMETIC(*, __hmul)
KASSAY_HALF_ARITHMETIC(/, __hdiv)
#define KASSAY_HALF_COMPARISON(O)                                                                                      \
    KASSAY_BOTH bool operator O(__half a, __half b) { return a.v O b.v; }
KASSAY_HALF_COMPARISON(<) KASSAY_HALF_COMPARISON(>) KASSAY_HALF_COMPARISON(<=) KASSAY_HALF_COMPARISON(>=)
KASSAY_HALF_COMPARISON(==) KASSAY_HALF_COMPARISON(!=)
KASSAY_BOTH __half operator-(__half a) { return __half((_Float16)-a.v); }
KASSAY_BOTH __half2 operator-(__half2 a) { return __half2(-a.x, -a.y); }
KASSAY_BOTH __half __hneg(__half a) { return -a; }
KASSAY_COMPARISONS_16(__half, __half2)
KASSAY_PAIRS_COMPARED(__half2)
KASSAY_STEPS_16(__half)

#define KASSAY_HALF_FROM(NAME, FROM) KASSAY_BOTH __half NAME(FROM x) { return __half(x); }
KASSAY_HALF_FROM(__float2half, float) KASSAY_HALF_FROM(__double2half, double)
/* L: the letter of the type in mangled names. */
#define KASSAY_HALF_ROUNDED(NAME, FROM, L, HOW, OPENCL)                                                                \
    __device__ _Float16 __kassay_##NAME##_##HOW(FROM) KASSAY_COMPUTES("_Z16convert_half_" OPENCL L);                   \
    KASSAY_INNER __half NAME##_##HOW(FROM x) { return __half(__kassay_##NAME##_##HOW(x)); }
#define KASSAY_HALF_CONVERSIONS(NAME, FROM, L)                                                                         \
    KASSAY_HALF_FROM(NAME##_rn, FROM) KASSAY_HALF_ROUNDED(NAME, FROM, L, rz, "rtz")                                    \
    KASSAY_HALF_ROUNDED(NAME, FROM, L, rd, "rtn") KASSAY_HALF_ROUNDED(NAME, FROM, L, ru, "rtp")
KASSAY_HALF_CONVERSIONS(__float2half, float, "f")
KASSAY_HALF_CONVERSIONS(__short2half, short, "s") KASSAY_HALF_CONVERSIONS(__ushort2half, unsigned short, "t")
KASSAY_HALF_CONVERSIONS(__int2half, int, "i") KASSAY_HALF_CONVERSIONS(__uint2half, unsigned, "j")
KASSAY_HALF_CONVERSIONS(__ll2half, long long, "l") KASSAY_HALF_CONVERSIONS(__ull2half, unsigned long long, "m")
KASSAY_TO_INTEGERS(__half, __half2)
KASSAY_BOTH float __half2float(__half x) { return (float)x.v; }
KASSAY_BOTH __half2 __float2half2_rn(float x) { return __half2(x, x); }
KASSAY_BOTH __half2 __floats2half2_rn(float x, float y) { return __half2(x, y); }
KASSAY_BOTH __half2 __float22half2_rn(float2 x) { return __half2(x.x, x.y); }
KASSAY_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
KASSAY_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
KASSAY_BOTH __half2 make_half2(__half x, __half y) { return __half2(x, y); }
KASSAY_BOTH __half __low2half(__half2 x) { return x.x; }
KASSAY_BOTH __half __high2half(__half2 x) { return x.y; }
KASSAY_BOTH __half2 __low2half2(__half2 x) { return __half2(x.x, x.x); }
KASSAY_BOTH __half2 __high2half2(__half2 x) { return __half2(x.y, x.y); }
KASSAY_BOTH __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
KASSAY_BOTH __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
KASSAY_BOTH __half2 __lowhigh2highlow(__half2 x) { return __half2(x.y, x.x); }
KASSAY_BOTH float __low2float(__half2 x) { return x.x; }
KASSAY_BOTH float __high2float(__half2 x) { return x.y; }
KASSAY_BOTH float2 __half22float2(__half2 x) { return float2{x.x, x.y}; }
KASSAY_BOTH unsigned short __half_as_ushort(__half a) { return __builtin_bit_cast(unsigned short, a.v); }
KASSAY_BOTH short __half_as_short(__half a) { return __builtin_bit_cast(short, a.v); }
KASSAY_BOTH __half __ushort_as_half(unsigned short a) { return __half(__builtin_bit_cast(_Float16, a)); }
KASSAY_BOTH __half __short_as_half(short a) { return __half(__builtin_bit_cast(_Float16, a)); }

#define KASSAY_HALF_BUILTIN(NAME, SYMBOL)                                                                              \
    __device__ _Float16 __kassay_##NAME(_Float16) KASSAY_COMPUTES(SYMBOL "Dh");                                        \
    KASSAY_INNER __half h##NAME(__half a) { return __half(__kassay_##NAME(a.v)); }                                     \
    KASSAY_INNER __half2 h2##NAME(__half2 a) { return __half2(h##NAME(a.x), h##NAME(a.y)); }
KASSAY_HALF_BUILTIN(exp, "_Z3exp") KASSAY_HALF_BUILTIN(exp2, "_Z4exp2") KASSAY_HALF_BUILTIN(exp10, "_Z5exp10")
KASSAY_HALF_BUILTIN(log, "_Z3log") KASSAY_HALF_BUILTIN(log2, "_Z4log2") KASSAY_HALF_BUILTIN(log10, "_Z5log10")
KASSAY_HALF_BUILTIN(sqrt, "_Z4sqrt") KASSAY_HALF_BUILTIN(rsqrt, "_Z5rsqrt") KASSAY_HALF_BUILTIN(sin, "_Z3sin")
KASSAY_HALF_BUILTIN(cos, "_Z3cos") KASSAY_HALF_BUILTIN(floor, "_Z5floor") KASSAY_HALF_BUILTIN(ceil, "_Z4ceil")
KASSAY_HALF_BUILTIN(trunc, "_Z5trunc") KASSAY_HALF_BUILTIN(rint, "_Z4rint") KASSAY_HALF_BUILTIN(tanh, "_Z4tanh")
KASSAY_INNER __half htanh_approx(__half a) { return htanh(a); }
KASSAY_INNER __half2 h2tanh_approx(__half2 a) { return h2tanh(a); }
KASSAY_INNER __half hrcp(__half a) { return __half((_Float16)1) / a; }
KASSAY_INNER __half2 h2rcp(__half2 a) { return __half2(hrcp(a.x), hrcp(a.y)); }
__device__ _Float16 __kassay_half_abs(_Float16) KASSAY_COMPUTES("_Z4fabsDh");
__device__ _Float16 __kassay_half_fma(_Float16, _Float16, _Float16) KASSAY_COMPUTES("_Z3fmaDhDhDh");
__device__ _Float16 __kassay_half_max(_Float16, _Float16) KASSAY_COMPUTES("_Z4fmaxDhDh");
__device__ _Float16 __kassay_half_min(_Float16, _Float16) KASSAY_COMPUTES("_Z4fminDhDh");
KASSAY_INNER __half __habs(__half a) { return __half(__kassay_half_abs(a.v)); }
KASSAY_INNER __half __hfma(__half a, __half b, __half c) { return __half(__kassay_half_fma(a.v, b.v, c.v)); }
KASSAY_INNER __half __hmax(__half a, __half b) { return __half(__kassay_half_max(a.v, b.v)); }
KASSAY_INNER __half __hmin(__half a, __half b) { return __half(__kassay_half_min(a.v, b.v)); }
KASSAY_ARITHMETIC_16(__half, __half2)
KASSAY_ATOMIC_SUM(__half, unsigned short) KASSAY_ATOMIC_SUM(__half2, unsigned)
