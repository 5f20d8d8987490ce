/* Integers, conversions, and bits of numbers. */
#pragma once
#include <kassay/mathematics.h>

/* Minimum and maximum. CUDA converts mixed operands as C does: to unsigned if one is. */
#define KASSAY_EXTREMES(T)                                                                                             \
    KASSAY_INNER T min(T x, T y) { return y < x ? y : x; }                                                             \
    KASSAY_INNER T max(T x, T y) { return x < y ? y : x; }
KASSAY_EXTREMES(int) KASSAY_EXTREMES(unsigned) KASSAY_EXTREMES(long) KASSAY_EXTREMES(unsigned long)
KASSAY_EXTREMES(long long) KASSAY_EXTREMES(unsigned long long)
#define KASSAY_MIXED_EXTREMES(T, U, C)                                                                                 \
    KASSAY_INNER C min(T x, U y) { return min((C)x, (C)y); }                                                           \
    KASSAY_INNER C max(T x, U y) { return max((C)x, (C)y); }                                                           \
    KASSAY_INNER C min(U x, T y) { return min((C)x, (C)y); }                                                           \
    KASSAY_INNER C max(U x, T y) { return max((C)x, (C)y); }
/* NaN is ignored, as fminf and fmaxf do. */
KASSAY_INNER float min(float x, float y) { return fminf(x, y); }
KASSAY_INNER float max(float x, float y) { return fmaxf(x, y); }
KASSAY_INNER double min(double x, double y) { return fmin(x, y); }
KASSAY_INNER double max(double x, double y) { return fmax(x, y); }
KASSAY_MIXED_EXTREMES(int, unsigned, unsigned) KASSAY_MIXED_EXTREMES(long, unsigned long, unsigned long)
KASSAY_MIXED_EXTREMES(long long, unsigned long long, unsigned long long) KASSAY_MIXED_EXTREMES(float, double, double)
KASSAY_MIXED_EXTREMES(int, long, long) KASSAY_MIXED_EXTREMES(int, unsigned long, unsigned long)
KASSAY_MIXED_EXTREMES(unsigned, unsigned long, unsigned long)
KASSAY_INNER int imin(int x, int y) { return min(x, y); }
KASSAY_INNER int imax(int x, int y) { return max(x, y); }
KASSAY_INNER unsigned umin(unsigned x, unsigned y) { return min(x, y); }
KASSAY_INNER unsigned umax(unsigned x, unsigned y) { return max(x, y); }
KASSAY_INNER long long llmin(long long x, long long y) { return min(x, y); }
KASSAY_INNER long long llmax(long long x, long long y) { return max(x, y); }
KASSAY_INNER unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
KASSAY_INNER unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }
/* The host's, which code for both sides may call: declarations are enough, because only device code is compiled. */
#define KASSAY_HOST_EXTREMES(T) __host__ T min(T, T); __host__ T max(T, T);
KASSAY_HOST_EXTREMES(int) KASSAY_HOST_EXTREMES(unsigned) KASSAY_HOST_EXTREMES(long) KASSAY_HOST_EXTREMES(unsigned long)
KASSAY_HOST_EXTREMES(long long) KASSAY_HOST_EXTREMES(unsigned long long) KASSAY_HOST_EXTREMES(float)
KASSAY_HOST_EXTREMES(double)

__device__ int __mul24(int, int) KASSAY_COMPUTES("_Z5mul24ii");
__device__ unsigned __umul24(unsigned, unsigned) KASSAY_COMPUTES("_Z5mul24jj");
__device__ int mul24(int, int) KASSAY_COMPUTES("_Z5mul24ii");
__device__ unsigned umul24(unsigned, unsigned) KASSAY_COMPUTES("_Z5mul24jj");
__device__ int __mulhi(int, int) KASSAY_COMPUTES("_Z6mul_hiii");
__device__ unsigned __umulhi(unsigned, unsigned) KASSAY_COMPUTES("_Z6mul_hijj");
__device__ long long __mul64hi(long long, long long) KASSAY_COMPUTES("_Z6mul_hill");
__device__ unsigned long long __umul64hi(unsigned long long, unsigned long long) KASSAY_COMPUTES("_Z6mul_himm");
__device__ int __hadd(int, int) KASSAY_COMPUTES("_Z4haddii");
__device__ int __rhadd(int, int) KASSAY_COMPUTES("_Z5rhaddii");
__device__ unsigned __uhadd(unsigned, unsigned) KASSAY_COMPUTES("_Z4haddjj");
__device__ unsigned __urhadd(unsigned, unsigned) KASSAY_COMPUTES("_Z5rhaddjj");
__device__ unsigned __kassay_abs_diff(int, int) KASSAY_COMPUTES("_Z8abs_diffii");
__device__ unsigned __kassay_abs_diff(unsigned, unsigned) KASSAY_COMPUTES("_Z8abs_diffjj");
KASSAY_INNER unsigned __sad(int x, int y, unsigned z) { return __kassay_abs_diff(x, y) + z; }
KASSAY_INNER unsigned __usad(unsigned x, unsigned y, unsigned z) { return __kassay_abs_diff(x, y) + z; }

/* For 0, OpenCL's clz is the number of bits, too. */
__device__ int __clz(int) KASSAY_COMPUTES("_Z3clzi");
__device__ long __kassay_clz(long) KASSAY_COMPUTES("_Z3clzl");
KASSAY_INNER int __clzll(long long x) { return (int)__kassay_clz((long)x); }
__device__ int __popc(unsigned) KASSAY_COMPUTES("_Z8popcountj");
__device__ unsigned long __kassay_popcount(unsigned long) KASSAY_COMPUTES("_Z8popcountm");
KASSAY_INNER int __popcll(unsigned long long x) { return (int)__kassay_popcount(x); }
/* The lowest bit alone, or 0: 32 minus its leading zeros is its number from 1, and 0 for 0. */
KASSAY_INNER int __ffs(int x) { return 32 - __clz((int)((unsigned)x & (0u - (unsigned)x))); }
KASSAY_INNER int __ffsll(long long x) {
    return 64 - __clzll((long long)((unsigned long long)x & (0ull - (unsigned long long)x)));
}
KASSAY_INNER int ffs(int x) { return __ffs(x); }
KASSAY_INNER int ffsll(long long x) { return __ffsll(x); }
KASSAY_INNER unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
KASSAY_INNER unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KASSAY_INNER unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
KASSAY_INNER unsigned __nv_bswap32(unsigned x) { return __builtin_bswap32(x); }
KASSAY_INNER unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
/* The bit that is the n-th one set from a bit upwards, or downwards if n is negative; the bit itself if n is 0. */
KASSAY_INNER unsigned __fns(unsigned mask, unsigned from, int n) {
    int left = n < 0 ? -n : n, step = n < 0 ? -1 : 1;
    for (int bit = (int)from; bit >= 0 && bit < 32; bit += step) {
        bool is_set = mask >> bit & 1;
        if (is_set && left <= 1) return (unsigned)bit;
        if (n == 0) break;
        left -= is_set;
    }
    return 0xffffffffu;
}
/* The upper and the lower word of (high:low) shifted by the lowest five bits of s, or by at most 32 (`c`). */
KASSAY_INNER unsigned __funnelshift_l(unsigned low, unsigned high, unsigned s) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (s & 31)) >> 32);
}
KASSAY_INNER unsigned __funnelshift_r(unsigned low, unsigned high, unsigned s) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (s & 31));
}
KASSAY_INNER unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned s) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (s < 32 ? s : 32)) >> 32);
}
KASSAY_INNER unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned s) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (s < 32 ? s : 32));
}
/* One byte of both words, which the lowest three bits of the selector name; PTX's fourth bit is not looked at. */
KASSAY_INNER unsigned __kassay_byte(unsigned long long both, unsigned selector) {
    return (unsigned)(both >> (8 * (selector & 7))) & 255u;
}
KASSAY_INNER unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    unsigned long long both = (unsigned long long)y << 32 | x;
    return __kassay_byte(both, s) | __kassay_byte(both, s >> 4) << 8 | __kassay_byte(both, s >> 8) << 16 |
           __kassay_byte(both, s >> 12) << 24;
}
KASSAY_INNER int __dp4a(int a, int b, int c) {
    return c + (signed char)a * (signed char)b + (signed char)(a >> 8) * (signed char)(b >> 8) +
           (signed char)(a >> 16) * (signed char)(b >> 16) + (a >> 24) * (b >> 24);
}
KASSAY_INNER unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    return c + (a & 255u) * (b & 255u) + (a >> 8 & 255u) * (b >> 8 & 255u) + (a >> 16 & 255u) * (b >> 16 & 255u) +
           (a >> 24) * (b >> 24);
}
/* Halves of `a` with the lower or upper two bytes of `b`. */
#define KASSAY_DOT_OF_TWO(NAME, AT)                                                                                    \
    KASSAY_INNER int NAME(int a, int b, int c) {                                                                       \
        return c + (short)a * (signed char)(b >> AT) + (a >> 16) * (signed char)(b >> (AT + 8));                       \
    }                                                                                                                  \
    KASSAY_INNER unsigned NAME(unsigned a, unsigned b, unsigned c) {                                                   \
        return c + (a & 0xffffu) * (b >> AT & 255u) + (a >> 16) * (b >> (AT + 8) & 255u);                              \
    }
KASSAY_DOT_OF_TWO(__dp2a_lo, 0) KASSAY_DOT_OF_TWO(__dp2a_hi, 16)

#define KASSAY_BITS(NAME, FROM, TO) KASSAY_INNER TO NAME(FROM x) { return __builtin_bit_cast(TO, x); }
KASSAY_BITS(__float_as_int, float, int) KASSAY_BITS(__int_as_float, int, float)
KASSAY_BITS(__float_as_uint, float, unsigned) KASSAY_BITS(__uint_as_float, unsigned, float)
KASSAY_BITS(__double_as_longlong, double, long long) KASSAY_BITS(__longlong_as_double, long long, double)
KASSAY_INNER int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
KASSAY_INNER int __double2loint(double x) { return (int)__double_as_longlong(x); }
KASSAY_INNER double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

/* To integers: what is too large or too small becomes the nearest integer. NaN becomes 0 from floats to integers of 32 bits; else the
 * highest bit alone is set, as an H200 does. LL: of the names' lengths. */
#define KASSAY_CONVERSION(NAME, R, FROM, TO, SYMBOL) __device__ TO NAME##_##R(FROM) KASSAY_COMPUTES(SYMBOL);
#define KASSAY_CONVERSION_NAN(NAME, R, FROM, TO, SYMBOL)                                                               \
    KASSAY_CONVERSION(__kassay##NAME, R, FROM, TO, SYMBOL)                                                             \
    KASSAY_INNER TO NAME##_##R(FROM x) { return x == x ? __kassay##NAME##_##R(x) : (TO)(1ull << (8 * sizeof(TO) - 1)); }
#define KASSAY_TO_INTEGER(CONVERSION, NAME, FROM, TO, LENGTH, TYPE, LETTER)                                            \
    CONVERSION(NAME, rn, FROM, TO, "_Z" #LENGTH "convert_" TYPE "_sat_rte" LETTER)                                     \
    CONVERSION(NAME, rz, FROM, TO, "_Z" #LENGTH "convert_" TYPE "_sat_rtz" LETTER)                                     \
    CONVERSION(NAME, ru, FROM, TO, "_Z" #LENGTH "convert_" TYPE "_sat_rtp" LETTER)                                     \
    CONVERSION(NAME, rd, FROM, TO, "_Z" #LENGTH "convert_" TYPE "_sat_rtn" LETTER)
KASSAY_TO_INTEGER(KASSAY_CONVERSION, __float2int, float, int, 19, "int", "f")
KASSAY_TO_INTEGER(KASSAY_CONVERSION, __float2uint, float, unsigned, 20, "uint", "f")
KASSAY_TO_INTEGER(KASSAY_CONVERSION_NAN, __float2ll, float, long long, 20, "long", "f")
KASSAY_TO_INTEGER(KASSAY_CONVERSION_NAN, __float2ull, float, unsigned long long, 21, "ulong", "f")
KASSAY_TO_INTEGER(KASSAY_CONVERSION_NAN, __double2int, double, int, 19, "int", "d")
KASSAY_TO_INTEGER(KASSAY_CONVERSION_NAN, __double2uint, double, unsigned, 20, "uint", "d")
KASSAY_TO_INTEGER(KASSAY_CONVERSION_NAN, __double2ll, double, long long, 20, "long", "d")
KASSAY_TO_INTEGER(KASSAY_CONVERSION_NAN, __double2ull, double, unsigned long long, 21, "ulong", "d")
#define KASSAY_TO_FLOAT(NAME, FROM, TO, LENGTH, TYPE, LETTER)                                                          \
    KASSAY_INNER TO NAME##_rn(FROM x) { return (TO)x; }                                                                \
    KASSAY_CONVERSION(NAME, rz, FROM, TO, "_Z" #LENGTH "convert_" TYPE "_rtz" LETTER)                                  \
    KASSAY_CONVERSION(NAME, ru, FROM, TO, "_Z" #LENGTH "convert_" TYPE "_rtp" LETTER)                                  \
    KASSAY_CONVERSION(NAME, rd, FROM, TO, "_Z" #LENGTH "convert_" TYPE "_rtn" LETTER)
KASSAY_TO_FLOAT(__int2float, int, float, 17, "float", "i") KASSAY_TO_FLOAT(__uint2float, unsigned, float, 17, "float", "j")
KASSAY_TO_FLOAT(__ll2float, long long, float, 17, "float", "l")
KASSAY_TO_FLOAT(__ull2float, unsigned long long, float, 17, "float", "m")
KASSAY_TO_FLOAT(__double2float, double, float, 17, "float", "d")
KASSAY_TO_FLOAT(__ll2double, long long, double, 18, "double", "l")
KASSAY_TO_FLOAT(__ull2double, unsigned long long, double, 18, "double", "m")
KASSAY_INNER double __int2double_rn(int x) { return x; }
KASSAY_INNER double __uint2double_rn(unsigned x) { return x; }
