/* Functions on floats and doubles for which libclc for NVPTX is not good enough: it treats subnormal floats as zero in divisions with
 * remainder and in `ldexp`, loses small values when it stores halfs rounded up or down, and does not saturate NaN to 0. */

#include "host.h"

/* Saturating conversions to integers (OpenCL C 3.0, 6.4.3.3): NaN becomes 0. The greatest integer may round up to a float out of range. */

#define SETTLED__sat_rte(X) __builtin_elementwise_roundeven(X)
#define SETTLED__sat_rtp(X) __builtin_elementwise_ceil(X)
#define SETTLED__sat_rtn(X) __builtin_elementwise_floor(X)
#define SETTLED__sat_rtz(X) __builtin_elementwise_trunc(X)
#define SETTLED__sat(X) __builtin_elementwise_trunc(X)

#define SATURATED(T, F, LEAST, GREATEST)                                                                               \
    INNER T saturated_##T(F x) {                                                                                       \
        return x != x ? (T)0 : x <= (F)LEAST ? (T)LEAST : x >= (F)GREATEST ? (T)GREATEST : (T)x;                       \
    }

#define SATURATE_VECTOR(N, T, F, MODE)                                                                                 \
    BUILTIN T##N convert_##T##N##MODE(F##N given) {                                                                    \
        F##N x = SETTLED_##MODE(given);                                                                                \
        return (T##N)EACH_##N(SATURATED_##T);                                                                          \
    }
#define SATURATE(T, F, MODE)                                                                                           \
    BUILTIN T convert_##T##MODE(F x) { return saturated_##T(SETTLED_##MODE(x)); }                                      \
    VECTORS(SATURATE_VECTOR, T, F, MODE)
#define SATURATE_FROM(T, F, LEAST, GREATEST)                                                                           \
    SATURATED(T, F, LEAST, GREATEST)                                                                                   \
    SATURATE(T, F, _sat)                                                                                               \
    SATURATE(T, F, _sat_rte)                                                                                           \
    SATURATE(T, F, _sat_rtp)                                                                                           \
    SATURATE(T, F, _sat_rtn)                                                                                           \
    SATURATE(T, F, _sat_rtz)
#define SATURATE_BOTH(T, LEAST, GREATEST) SATURATE_FROM(T, float, LEAST, GREATEST) SATURATE_FROM(T, double, LEAST, GREATEST)

#define SATURATED_char(I) saturated_char(x.s##I)
#define SATURATED_uchar(I) saturated_uchar(x.s##I)
#define SATURATED_short(I) saturated_short(x.s##I)
#define SATURATED_ushort(I) saturated_ushort(x.s##I)
#define SATURATED_int(I) saturated_int(x.s##I)
#define SATURATED_uint(I) saturated_uint(x.s##I)
#define SATURATED_long(I) saturated_long(x.s##I)
#define SATURATED_ulong(I) saturated_ulong(x.s##I)

SATURATE_BOTH(char, CHAR_MIN, CHAR_MAX)
SATURATE_BOTH(uchar, 0, UCHAR_MAX)
SATURATE_BOTH(short, SHRT_MIN, SHRT_MAX)
SATURATE_BOTH(ushort, 0, USHRT_MAX)
SATURATE_BOTH(int, INT_MIN, INT_MAX)
SATURATE_BOTH(uint, 0, UINT_MAX)
SATURATE_BOTH(long, LONG_MIN, LONG_MAX)
SATURATE_BOTH(ulong, 0, ULONG_MAX)

/* Stores of floats and doubles as halfs (6.15.7). */

#define HALF_STORE(SPACE, N, F, MODE)                                                                                  \
    BUILTIN void vstore_half##N##MODE(F##N x, size_t at, SPACE half *p) {                                              \
        typedef half##N loose __attribute__((aligned(2)));                                                             \
        *(SPACE loose *)(p + at * N) = convert_half##N##MODE(x);                                                       \
    }                                                                                                                  \
    BUILTIN void vstorea_half##N##MODE(F##N x, size_t at, SPACE half *p) {                                             \
        *(SPACE half##N *)(p + at * N) = convert_half##N##MODE(x);                                                     \
    }
#define HALF_STORE_1(SPACE, F, MODE)                                                                                   \
    BUILTIN void vstore_half##MODE(F x, size_t at, SPACE half *p) { p[at] = convert_half##MODE(x); }                   \
    BUILTIN void vstorea_half##MODE(F x, size_t at, SPACE half *p) { p[at] = convert_half##MODE(x); }
#define HALF_STORE_3(SPACE, F, MODE)                                                                                   \
    BUILTIN void vstore_half3##MODE(F##3 x, size_t at, SPACE half *p) { vstore3(convert_half3##MODE(x), at, p); }      \
    BUILTIN void vstorea_half3##MODE(F##3 x, size_t at, SPACE half *p) {                                               \
        vstore3(convert_half3##MODE(x), 0, p + at * 4);                                                                \
    }
#define HALF_STORES(F, MODE)                                                                                           \
    WRITABLE(HALF_STORE_1, F, MODE)                                                                                    \
    WRITABLE(HALF_STORE, 2, F, MODE)                                                                                   \
    WRITABLE(HALF_STORE_3, F, MODE)                                                                                    \
    WRITABLE(HALF_STORE, 4, F, MODE)                                                                                   \
    WRITABLE(HALF_STORE, 8, F, MODE)                                                                                   \
    WRITABLE(HALF_STORE, 16, F, MODE)
#define HALF_STORES_ROUNDED(F)                                                                                         \
    HALF_STORES(F, ) HALF_STORES(F, _rte) HALF_STORES(F, _rtz) HALF_STORES(F, _rtp) HALF_STORES(F, _rtn)
HALF_STORES_ROUNDED(float)
HALF_STORES_ROUNDED(double)

/* Powers: the C library's, because libclc's version for doubles is wrong for huge exponents. Targets without a C library take libclc's. */
#ifndef NO_C_LIBRARY

BUILTIN float pow(float x, float y) { return __builtin_powf(x, y); }
BUILTIN double pow(double x, double y) { return __builtin_pow(x, y); }
BUILTIN float pown(float x, int n) { return (float)__builtin_pow((double)x, (double)n); }
BUILTIN double pown(double x, int n) { return __builtin_pow(x, (double)n); }

#define POWER_OF_POSITIVE(T)                                                                                           \
    BUILTIN T powr(T x, T y) {                                                                                         \
        T size = __builtin_elementwise_abs(y);                                                                         \
        bool none = !(x >= 0) || y != y || (y == 0 && (x == 0 || x == INFINITY)) || (x == 1 && size == INFINITY);      \
        return none ? (T)NAN : pow(__builtin_elementwise_abs(x), y);                                                   \
    }
POWER_OF_POSITIVE(float)
POWER_OF_POSITIVE(double)

#define POW(I) pow(x.s##I, y.s##I)
#define POWN(I) pown(x.s##I, n.s##I)
#define POWR(I) powr(x.s##I, y.s##I)
#define POWERS(N, T)                                                                                                   \
    BUILTIN T##N pow(T##N x, T##N y) { return (T##N)EACH_##N(POW); }                                                   \
    BUILTIN T##N pown(T##N x, int##N n) { return (T##N)EACH_##N(POWN); }                                               \
    BUILTIN T##N powr(T##N x, T##N y) { return (T##N)EACH_##N(POWR); }
VECTORS(POWERS, float)
VECTORS(POWERS, double)

#endif

/* Division with remainder: floats are computed as doubles, in which every step is exact. */

BUILTIN float fmod(float x, float y) { return __builtin_fmodf(x, y); }
BUILTIN double fmod(double x, double y) { return __builtin_fmod(x, y); }

INNER float remainder_of(float x, float y, __private int *quotient) {
    double size = __builtin_elementwise_abs((double)x), step = __builtin_elementwise_abs((double)y);
    *quotient = 0;
    if (step == INFINITY && size < INFINITY) {
        return x;
    }
    double left = __builtin_fmod(size, 128 * step);
    double times = __builtin_elementwise_roundeven(left / step);
    left -= times * step;
    if (times == times) {
        int bits = (int)times & 127;
        *quotient = (x < 0) == (y < 0) ? bits : -bits;
    }
    return __builtin_astype(x, int) < 0 ? -(float)left : (float)left;
}

BUILTIN float remainder(float x, float y) {
    int quotient;
    return remainder_of(x, y, &quotient);
}

BUILTIN float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }

#define SCALE(I) ldexp(x.s##I, n.s##I)
#define SCALE_ALL(I) ldexp(x.s##I, n)
#define SCALES(N, _)                                                                                                   \
    BUILTIN float##N ldexp(float##N x, int##N n) { return (float##N)EACH_##N(SCALE); }                                 \
    BUILTIN float##N ldexp(float##N x, int n) { return (float##N)EACH_##N(SCALE_ALL); }
VECTORS(SCALES, )

#define FMOD(I) fmod(x.s##I, y.s##I)
#define REMAINDER(I) remainder(x.s##I, y.s##I)
#define REMAINDERS(N, _)                                                                                               \
    BUILTIN float##N fmod(float##N x, float##N y) { return (float##N)EACH_##N(FMOD); }                                 \
    BUILTIN double##N fmod(double##N x, double##N y) { return (double##N)EACH_##N(FMOD); }                             \
    BUILTIN float##N remainder(float##N x, float##N y) { return (float##N)EACH_##N(REMAINDER); }
VECTORS(REMAINDERS, )

#define QUOTIENT_1(SPACE, _)                                                                                           \
    BUILTIN float remquo(float x, float y, SPACE int *quotient) {                                                      \
        int times;                                                                                                     \
        float left = remainder_of(x, y, &times);                                                                       \
        *quotient = times;                                                                                             \
        return left;                                                                                                   \
    }
WRITABLE(QUOTIENT_1, )

#define REMAINDER_PART(I) remainder_of(x.s##I, y.s##I, &part)
#define QUOTIENT_PART(I) (remainder_of(x.s##I, y.s##I, &part), part)
#define QUOTIENT_N(SPACE, N)                                                                                           \
    BUILTIN float##N remquo(float##N x, float##N y, SPACE int##N *quotient) {                                          \
        int part;                                                                                                      \
        *quotient = (int##N)EACH_##N(QUOTIENT_PART);                                                                   \
        return (float##N)EACH_##N(REMAINDER_PART);                                                                     \
    }
WRITABLE(QUOTIENT_N, 2)
WRITABLE(QUOTIENT_N, 3)
WRITABLE(QUOTIENT_N, 4)
WRITABLE(QUOTIENT_N, 8)
WRITABLE(QUOTIENT_N, 16)
