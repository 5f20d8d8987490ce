/* Functions on floats and doubles for which libclc for NVPTX is not good enough: it treats subnormal floats as zero in divisions with
 * remainder and in `ldexp`, loses small values when it stores halfs rounded up or down, does not saturate NaN to 0, and has zeros of the
 * wrong sign in `fract`, and wrong values of NaN, infinities and great negative numbers in `ldexp`, `lgamma` and `tgamma`. */

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

INNER double exact_fmod(double x, double y) { return __builtin_fmod(x, y); }

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

/* The gamma function of floats is that of doubles, which libclc has right but for tgamma(-0), and below -170, where the function is too
 * small for a float, of alternating sign, and still has its poles. */

double BUILTIN tgamma(double x);
double BUILTIN lgamma(double x);
double BUILTIN lgamma_r(double x, __private int *sign);

BUILTIN float tgamma(float x) {
    if (x < -60) {
        float below = __builtin_elementwise_floor(x);
        return below == x ? (float)NAN : exact_fmod((double)below, 2) == 0 ? 0.0f : -0.0f;
    }
    return x == 0 ? __builtin_copysignf(INFINITY, x) : (float)tgamma((double)x);
}
BUILTIN float lgamma(float x) { return (float)lgamma((double)x); }

#define TGAMMA(I) tgamma(x.s##I)
#define LGAMMA(I) lgamma(x.s##I)
#define LGAMMA_PART(I) (float)lgamma_r((double)x.s##I, &part)
#define SIGN_PART(I) (lgamma_r((double)x.s##I, &part), part)
#define LGAMMA_1(SPACE, _)                                                                                             \
    BUILTIN float lgamma_r(float x, SPACE int *sign) {                                                                 \
        int part;                                                                                                      \
        float value = (float)lgamma_r((double)x, &part);                                                               \
        *sign = part;                                                                                                  \
        return value;                                                                                                  \
    }
#define LGAMMA_N(SPACE, N)                                                                                             \
    BUILTIN float##N lgamma_r(float##N x, SPACE int##N *sign) {                                                        \
        int part;                                                                                                      \
        *sign = (int##N)EACH_##N(SIGN_PART);                                                                           \
        return (float##N)EACH_##N(LGAMMA_PART);                                                                        \
    }
#define GAMMAS(N, _)                                                                                                   \
    BUILTIN float##N tgamma(float##N x) { return (float##N)EACH_##N(TGAMMA); }                                         \
    BUILTIN float##N lgamma(float##N x) { return (float##N)EACH_##N(LGAMMA); }                                         \
    WRITABLE(LGAMMA_N, N)
WRITABLE(LGAMMA_1, )
VECTORS(GAMMAS, )

/* A double's remainder, by two steps beyond that of fmod, which is exact. */

BUILTIN double remainder(double x, double y) {
    double size = __builtin_fabs(x), step = __builtin_fabs(y);
    if (!(size < INFINITY) || !(step > 0)) {
        return NAN;
    }
    double left = step <= 0x1p1022 ? exact_fmod(size, 2 * step) : size;
    /* Halves of the least steps would be rounded, doubles of the greatest sizes not be there. */
    bool is_small = step < 0x1p-1021;
    if (is_small ? left + left > step : left > step / 2) {
        left -= step;
        if (is_small ? left + left >= step : left >= step / 2) {
            left -= step;
        }
    }
    return __builtin_astype(x, long) < 0 ? -left : left;
}

/* Fractions (6.15.2 and 7.5.1), which stay below 1 and have the sign of a zero or an infinity. */

#define BELOW_ONE_float 0x1.fffffep-1f
#define BELOW_ONE_double 0x1.fffffffffffffp-1
#define FRACTION_OF(T)                                                                                                 \
    INNER T fraction_of(T x) {                                                                                         \
        T left = x - __builtin_elementwise_floor(x);                                                                   \
        bool keeps_sign = x == 0 || __builtin_elementwise_abs(x) == INFINITY;                                          \
        return keeps_sign ? __builtin_elementwise_copysign((T)0, x) : left > BELOW_ONE_##T ? (T)BELOW_ONE_##T : left;  \
    }
FRACTION_OF(float)
FRACTION_OF(double)
#define FRACTION_1(SPACE, T)                                                                                           \
    BUILTIN T fract(T x, SPACE T *whole) {                                                                             \
        *whole = __builtin_elementwise_floor(x);                                                                       \
        return fraction_of(x);                                                                                         \
    }
#define FRACTION_PART(I) fraction_of(x.s##I)
#define FRACTION_N(SPACE, N, T)                                                                                        \
    BUILTIN T##N fract(T##N x, SPACE T##N *whole) {                                                                    \
        *whole = __builtin_elementwise_floor(x);                                                                       \
        return (T##N)EACH_##N(FRACTION_PART);                                                                          \
    }
#define FRACTIONS_OF(N, T) WRITABLE(FRACTION_N, N, T)
WRITABLE(FRACTION_1, float)
WRITABLE(FRACTION_1, double)
VECTORS(FRACTIONS_OF, float)
VECTORS(FRACTIONS_OF, double)

/* Division with remainder: floats are computed as doubles, in which every step is exact. */

BUILTIN float fmod(float x, float y) { return (float)exact_fmod((double)x, (double)y); }
BUILTIN double fmod(double x, double y) { return exact_fmod(x, y); }

INNER float remainder_of(float x, float y, __private int *quotient) {
    double size = __builtin_elementwise_abs((double)x), step = __builtin_elementwise_abs((double)y);
    *quotient = 0;
    if (step == INFINITY && size < INFINITY) {
        return x;
    }
    double left = exact_fmod(size, 128 * step);
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
BUILTIN double ldexp(double x, int n) { return __builtin_ldexp(x, n); }

#define SCALE(I) ldexp(x.s##I, n.s##I)
#define SCALE_ALL(I) ldexp(x.s##I, n)
#define SCALES(N, T)                                                                                                   \
    BUILTIN T##N ldexp(T##N x, int##N n) { return (T##N)EACH_##N(SCALE); }                                             \
    BUILTIN T##N ldexp(T##N x, int n) { return (T##N)EACH_##N(SCALE_ALL); }
VECTORS(SCALES, float)
VECTORS(SCALES, double)

#define FMOD(I) fmod(x.s##I, y.s##I)
#define REMAINDER(I) remainder(x.s##I, y.s##I)
#define REMAINDERS(N, _)                                                                                               \
    BUILTIN float##N fmod(float##N x, float##N y) { return (float##N)EACH_##N(FMOD); }                                 \
    BUILTIN double##N fmod(double##N x, double##N y) { return (double##N)EACH_##N(FMOD); }                             \
    BUILTIN float##N remainder(float##N x, float##N y) { return (float##N)EACH_##N(REMAINDER); }                       \
    BUILTIN double##N remainder(double##N x, double##N y) { return (double##N)EACH_##N(REMAINDER); }
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
