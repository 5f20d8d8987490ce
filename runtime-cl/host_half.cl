/* Halfs, which libclc for NVPTX supports only in memory: the float functions, rounded. A float has more than twice the digits of a
 * half, so functions that are exactly rounded for floats are so for halfs, and the others are well within their bounds (OpenCL C 3.0, 7.4). */

#include "host.h"

#define WIDE(N, X) __builtin_convertvector(X, float##N)
#define NARROW(N, X) __builtin_convertvector(X, half##N)

/* One to three arguments. */

#define UNARY(N, NAME)                                                                                                 \
    float##N BUILTIN NAME(float##N x);                                                                                 \
    BUILTIN half##N NAME(half##N x) { return TO_HALF(N, NAME(TO_FLOAT(N, x))); }
#define BINARY(N, NAME)                                                                                                \
    float##N BUILTIN NAME(float##N x, float##N y);                                                                     \
    BUILTIN half##N NAME(half##N x, half##N y) { return TO_HALF(N, NAME(TO_FLOAT(N, x), TO_FLOAT(N, y))); }
#define TERNARY(N, NAME)                                                                                               \
    float##N BUILTIN NAME(float##N x, float##N y, float##N z);                                                         \
    BUILTIN half##N NAME(half##N x, half##N y, half##N z) {                                                            \
        return TO_HALF(N, NAME(TO_FLOAT(N, x), TO_FLOAT(N, y), TO_FLOAT(N, z)));                                       \
    }

/* Scalars are cast, vectors are converted. */
#define TO_FLOAT(N, X) to_float(X)
#define TO_HALF(N, X) to_half(X)
INNER float to_float(half x) { return (float)x; }
INNER half to_half(float x) { return (half)x; }
#define BETWEEN(N, _)                                                                                                  \
    INNER float##N to_float(half##N x) { return WIDE(N, x); }                                                          \
    INNER half##N to_half(float##N x) { return NARROW(N, x); }
VECTORS(BETWEEN, )

WIDTHS(UNARY, acos)
WIDTHS(UNARY, acosh)
WIDTHS(UNARY, acospi)
WIDTHS(UNARY, asin)
WIDTHS(UNARY, asinh)
WIDTHS(UNARY, asinpi)
WIDTHS(UNARY, atan)
WIDTHS(UNARY, atanh)
WIDTHS(UNARY, atanpi)
WIDTHS(UNARY, cbrt)
WIDTHS(UNARY, ceil)
WIDTHS(UNARY, cos)
WIDTHS(UNARY, cosh)
WIDTHS(UNARY, cospi)
WIDTHS(UNARY, erf)
WIDTHS(UNARY, erfc)
WIDTHS(UNARY, exp)
WIDTHS(UNARY, exp2)
WIDTHS(UNARY, exp10)
WIDTHS(UNARY, expm1)
WIDTHS(UNARY, floor)
WIDTHS(UNARY, lgamma)
WIDTHS(UNARY, log)
WIDTHS(UNARY, log2)
WIDTHS(UNARY, log10)
WIDTHS(UNARY, log1p)
WIDTHS(UNARY, logb)
WIDTHS(UNARY, rint)
WIDTHS(UNARY, round)
WIDTHS(UNARY, rsqrt)
WIDTHS(UNARY, sin)
WIDTHS(UNARY, sinh)
WIDTHS(UNARY, sinpi)
WIDTHS(UNARY, sqrt)
WIDTHS(UNARY, tan)
WIDTHS(UNARY, tanh)
WIDTHS(UNARY, tanpi)
WIDTHS(UNARY, tgamma)
WIDTHS(UNARY, trunc)
WIDTHS(UNARY, degrees)
WIDTHS(UNARY, radians)
WIDTHS(UNARY, sign)
WIDTHS(BINARY, atan2)
WIDTHS(BINARY, atan2pi)
WIDTHS(BINARY, fdim)
WIDTHS(BINARY, fmax)
WIDTHS(BINARY, fmin)
WIDTHS(BINARY, fmod)
WIDTHS(BINARY, hypot)
WIDTHS(BINARY, maxmag)
WIDTHS(BINARY, minmag)
WIDTHS(BINARY, pow)
WIDTHS(BINARY, powr)
WIDTHS(BINARY, remainder)
WIDTHS(BINARY, max)
WIDTHS(BINARY, min)
WIDTHS(BINARY, step)
WIDTHS(TERNARY, clamp)
WIDTHS(TERNARY, mix)
WIDTHS(TERNARY, smoothstep)

/* Vectors combined with one scalar for all components. */
#define SPREAD(N, _)                                                                                                   \
    BUILTIN half##N fmax(half##N x, half y) { return fmax(x, (half##N)(y)); }                                          \
    BUILTIN half##N fmin(half##N x, half y) { return fmin(x, (half##N)(y)); }                                          \
    BUILTIN half##N max(half##N x, half y) { return max(x, (half##N)(y)); }                                            \
    BUILTIN half##N min(half##N x, half y) { return min(x, (half##N)(y)); }                                            \
    BUILTIN half##N clamp(half##N x, half y, half z) { return clamp(x, (half##N)(y), (half##N)(z)); }                  \
    BUILTIN half##N mix(half##N x, half##N y, half z) { return mix(x, y, (half##N)(z)); }                              \
    BUILTIN half##N step(half x, half##N y) { return step((half##N)(x), y); }                                          \
    BUILTIN half##N smoothstep(half x, half y, half##N z) { return smoothstep((half##N)(x), (half##N)(y), z); }        \
    BUILTIN half##N ldexp(half##N x, int y) { return ldexp(x, (int##N)(y)); }
#define SCALED(N, NAME)                                                                                                \
    float##N BUILTIN NAME(float##N x, int##N y);                                                                       \
    BUILTIN half##N NAME(half##N x, int##N y) { return TO_HALF(N, NAME(TO_FLOAT(N, x), y)); }
WIDTHS(SCALED, ldexp)
WIDTHS(SCALED, pown)
WIDTHS(SCALED, rootn)
VECTORS(SPREAD, )

#define EXPONENT(N, _)                                                                                                 \
    int##N BUILTIN ilogb(float##N x);                                                                                  \
    BUILTIN int##N ilogb(half##N x) { return ilogb(TO_FLOAT(N, x)); }                                                  \
    BUILTIN half##N nan(ushort##N code) { return __builtin_astype((ushort##N)(code | (ushort)0x7e00), half##N); }
WIDTHS(EXPONENT, )

/* Functions of the bit representation. */
#define BITWISE(N, _)                                                                                                  \
    BUILTIN half##N fabs(half##N x) {                                                                                  \
        return __builtin_astype((ushort##N)(__builtin_astype(x, ushort##N) & (ushort)0x7fff), half##N);                \
    }                                                                                                                  \
    BUILTIN half##N copysign(half##N x, half##N y) {                                                                   \
        return __builtin_astype((ushort##N)((__builtin_astype(x, ushort##N) & (ushort)0x7fff) |                        \
                                            (__builtin_astype(y, ushort##N) & (ushort)0x8000)),                        \
                                half##N);                                                                              \
    }                                                                                                                  \
    BUILTIN half##N bitselect(half##N x, half##N y, half##N z) {                                                       \
        ushort##N mask = __builtin_astype(z, ushort##N);                                                               \
        return __builtin_astype(                                                                                       \
            (ushort##N)((__builtin_astype(x, ushort##N) & ~mask) | (__builtin_astype(y, ushort##N) & mask)), half##N); \
    }
WIDTHS(BITWISE, )

BUILTIN half select(half x, half y, short c) { return c ? y : x; }
BUILTIN half select(half x, half y, ushort c) { return c ? y : x; }
#define SELECT(N, _)                                                                                                   \
    BUILTIN half##N select(half##N x, half##N y, short##N c) { return c ? y : x; }                                     \
    BUILTIN half##N select(half##N x, half##N y, ushort##N c) { return __builtin_astype(c, short##N) ? y : x; }
VECTORS(SELECT, )

BUILTIN half nextafter(half x, half y) {
    if (x != x) {
        return x;
    }
    if (y != y || x == y) {
        return y;
    }
    short bits = __builtin_astype(x, short);
    if (x == (half)0) {
        return __builtin_astype((short)(y > x ? 1 : (short)0x8001), half);
    }
    return __builtin_astype((short)((x < y) == (bits >= 0) ? bits + 1 : bits - 1), half);
}

/* The product is exact as a double; the sum is rounded to odd, so rounding it again gives the same as rounding once. */
BUILTIN half fma(half x, half y, half z) {
    double product = (double)x * (double)y;
    double sum = product + (double)z;
    double part = sum - product;
    double error = (product - (sum - part)) + ((double)z - part);
    long bits = __builtin_astype(sum, long);
    if (error != 0 && error == error && (bits & 1) == 0) {
        bits += (error > 0) == (bits >= 0) ? 1 : -1;
        sum = __builtin_astype(bits, double);
    }
    return (half)sum;
}

BUILTIN half mad(half x, half y, half z) { return (half)((float)x * (float)y + (float)z); }

#define NEXT(I) nextafter(x.s##I, y.s##I)
#define FUSED(I) fma(x.s##I, y.s##I, z.s##I)
#define BY_COMPONENT(N, _)                                                                                             \
    BUILTIN half##N nextafter(half##N x, half##N y) { return (half##N)EACH_##N(NEXT); }                                \
    BUILTIN half##N fma(half##N x, half##N y, half##N z) { return (half##N)EACH_##N(FUSED); }                          \
    BUILTIN half##N mad(half##N x, half##N y, half##N z) {                                                             \
        return TO_HALF(N, TO_FLOAT(N, x) * TO_FLOAT(N, y) + TO_FLOAT(N, z));                                           \
    }
VECTORS(BY_COMPONENT, )

/* Functions with a second result, stored through a pointer. */

#define SPLIT(SPACE, N, NAME)                                                                                          \
    BUILTIN half##N NAME(half##N x, SPACE half##N *second) {                                                           \
        float##N other;                                                                                                \
        half##N first = TO_HALF(N, NAME(TO_FLOAT(N, x), &other));                                                      \
        *second = TO_HALF(N, other);                                                                                   \
        return first;                                                                                                  \
    }
#define SPLITS(N, NAME)                                                                                                \
    float##N BUILTIN NAME(float##N x, __private float##N *second);                                                     \
    WRITABLE(SPLIT, N, NAME)
WIDTHS(SPLITS, modf)
WIDTHS(SPLITS, sincos)

/* The fraction must stay below 1 as a half. */
#define FRACTION(SPACE, N, _)                                                                                          \
    BUILTIN half##N fract(half##N x, SPACE half##N *whole) {                                                           \
        half##N below = floor(x);                                                                                      \
        *whole = below;                                                                                                \
        half##N left = fmin(x - below, (half##N)(0x1.ffcp-1h));                                                        \
        half##N part = TO_HALF(N, select_finite(TO_FLOAT(N, x), TO_FLOAT(N, left)));                                   \
        return ((x == (half##N)(0)) | (x - x != (half##N)(0))) ? copysign(part, x) : part;                             \
    }
#define FRACTIONS(N, _) WRITABLE(FRACTION, N, )
INNER float select_finite(float x, float left) { return x != x ? x : x - x != 0 ? 0.0f : left; }
#define FINITE(I) select_finite(x.s##I, left.s##I)
#define SELECT_FINITE(N, _)                                                                                            \
    INNER float##N select_finite(float##N x, float##N left) { return (float##N)EACH_##N(FINITE); }
VECTORS(SELECT_FINITE, )
WIDTHS(FRACTIONS, )

#define WITH_INT(SPACE, N, NAME)                                                                                       \
    BUILTIN half##N NAME(half##N x, SPACE int##N *second) {                                                            \
        int##N other;                                                                                                  \
        half##N first = TO_HALF(N, NAME(TO_FLOAT(N, x), &other));                                                      \
        *second = other;                                                                                               \
        return first;                                                                                                  \
    }
#define WITH_INTS(N, NAME)                                                                                             \
    float##N BUILTIN NAME(float##N x, __private int##N *second);                                                       \
    WRITABLE(WITH_INT, N, NAME)
WIDTHS(WITH_INTS, frexp)
WIDTHS(WITH_INTS, lgamma_r)

#define QUOTIENT(SPACE, N, _)                                                                                          \
    BUILTIN half##N remquo(half##N x, half##N y, SPACE int##N *quotient) {                                             \
        int##N other;                                                                                                  \
        half##N first = TO_HALF(N, remquo(TO_FLOAT(N, x), TO_FLOAT(N, y), &other));                                    \
        *quotient = other;                                                                                             \
        return first;                                                                                                  \
    }
#define QUOTIENTS(N, _)                                                                                                \
    float##N BUILTIN remquo(float##N x, float##N y, __private int##N *quotient);                                       \
    WRITABLE(QUOTIENT, N, )
WIDTHS(QUOTIENTS, )

/* Geometry. */

#define LENGTHS(N, _)                                                                                                  \
    float BUILTIN dot(float##N x, float##N y);                                                                         \
    float BUILTIN distance(float##N x, float##N y);                                                                    \
    float BUILTIN length(float##N x);                                                                                  \
    float##N BUILTIN normalize(float##N x);                                                                            \
    BUILTIN half dot(half##N x, half##N y) { return (half)dot(TO_FLOAT(N, x), TO_FLOAT(N, y)); }                       \
    BUILTIN half distance(half##N x, half##N y) { return (half)distance(TO_FLOAT(N, x), TO_FLOAT(N, y)); }             \
    BUILTIN half length(half##N x) { return (half)length(TO_FLOAT(N, x)); }                                            \
    BUILTIN half##N normalize(half##N x) { return TO_HALF(N, normalize(TO_FLOAT(N, x))); }                             \
    BUILTIN half fast_distance(half##N x, half##N y) { return distance(x, y); }                                        \
    BUILTIN half fast_length(half##N x) { return length(x); }                                                          \
    BUILTIN half##N fast_normalize(half##N x) { return normalize(x); }
LENGTHS(, )
LENGTHS(2, )
LENGTHS(3, )
LENGTHS(4, )

#define CROSS(N, _)                                                                                                    \
    float##N BUILTIN cross(float##N x, float##N y);                                                                    \
    BUILTIN half##N cross(half##N x, half##N y) { return TO_HALF(N, cross(TO_FLOAT(N, x), TO_FLOAT(N, y))); }
CROSS(3, )
CROSS(4, )

/* Relations: int for scalars, short for vectors. */

#define COMPARE_TWO(NAME)                                                                                              \
    int BUILTIN NAME(float x, float y);                                                                                \
    BUILTIN int NAME(half x, half y) { return NAME((float)x, (float)y); }                                              \
    VECTORS(COMPARE_VECTORS, NAME)
#define COMPARE_VECTORS(N, NAME)                                                                                       \
    int##N BUILTIN NAME(float##N x, float##N y);                                                                       \
    BUILTIN short##N NAME(half##N x, half##N y) {                                                                      \
        return __builtin_convertvector(NAME(TO_FLOAT(N, x), TO_FLOAT(N, y)), short##N);                                \
    }
COMPARE_TWO(isequal)
COMPARE_TWO(isnotequal)
COMPARE_TWO(isgreater)
COMPARE_TWO(isgreaterequal)
COMPARE_TWO(isless)
COMPARE_TWO(islessequal)
COMPARE_TWO(islessgreater)
COMPARE_TWO(isordered)
COMPARE_TWO(isunordered)

#define TEST(NAME)                                                                                                     \
    int BUILTIN NAME(float x);                                                                                         \
    BUILTIN int NAME(half x) { return NAME((float)x); }                                                                \
    VECTORS(TEST_VECTORS, NAME)
#define TEST_VECTORS(N, NAME)                                                                                          \
    int##N BUILTIN NAME(float##N x);                                                                                   \
    BUILTIN short##N NAME(half##N x) { return __builtin_convertvector(NAME(TO_FLOAT(N, x)), short##N); }
TEST(isfinite)
TEST(isinf)
TEST(isnan)
TEST(signbit)

/* Numbers that are subnormal as halfs are normal as floats. */
INNER bool is_normal(ushort bits) { return (bits & 0x7c00) != 0 && (bits & 0x7c00) != 0x7c00; }
BUILTIN int isnormal(half x) { return is_normal(__builtin_astype(x, ushort)); }
#define NORMAL(I) (short)-is_normal(__builtin_astype(x.s##I, ushort))
#define IS_NORMAL(N, _)                                                                                                \
    BUILTIN short##N isnormal(half##N x) { return (short##N)EACH_##N(NORMAL); }
VECTORS(IS_NORMAL, )

/* Shuffles, as shorts. */

#define SHUFFLE(M, N)                                                                                                  \
    short##N BUILTIN shuffle(short##M x, ushort##N mask);                                                              \
    short##N BUILTIN shuffle2(short##M x, short##M y, ushort##N mask);                                                 \
    BUILTIN half##N shuffle(half##M x, ushort##N mask) {                                                               \
        return __builtin_astype(shuffle(__builtin_astype(x, short##M), mask), half##N);                                \
    }                                                                                                                  \
    BUILTIN half##N shuffle2(half##M x, half##M y, ushort##N mask) {                                                   \
        return __builtin_astype(shuffle2(__builtin_astype(x, short##M), __builtin_astype(y, short##M), mask),          \
                                half##N);                                                                              \
    }
#define SHUFFLES_TO(M) SHUFFLE(M, 2) SHUFFLE(M, 4) SHUFFLE(M, 8) SHUFFLE(M, 16)
SHUFFLES_TO(2)
SHUFFLES_TO(4)
SHUFFLES_TO(8)
SHUFFLES_TO(16)

/* Vectors in memory, aligned like their elements. */

#define LOAD(SPACE, N)                                                                                                 \
    BUILTIN half##N vload##N(size_t at, SPACE const half *p) {                                                         \
        typedef half##N loose __attribute__((aligned(2)));                                                             \
        return *(SPACE const loose *)(p + at * N);                                                                     \
    }
#define LOAD_3(SPACE, _)                                                                                               \
    BUILTIN half3 vload3(size_t at, SPACE const half *p) {                                                             \
        typedef half2 loose __attribute__((aligned(2)));                                                               \
        p += at * 3;                                                                                                   \
        return (half3)(*(SPACE const loose *)p, p[2]);                                                                 \
    }
#define STORE(SPACE, N)                                                                                                \
    BUILTIN void vstore##N(half##N x, size_t at, SPACE half *p) {                                                      \
        typedef half##N loose __attribute__((aligned(2)));                                                             \
        *(SPACE loose *)(p + at * N) = x;                                                                              \
    }
#define STORE_3(SPACE, _)                                                                                              \
    BUILTIN void vstore3(half3 x, size_t at, SPACE half *p) {                                                          \
        typedef half2 loose __attribute__((aligned(2)));                                                               \
        p += at * 3;                                                                                                   \
        *(SPACE loose *)p = x.s01;                                                                                     \
        p[2] = x.s2;                                                                                                   \
    }
#define READABLE(M, ...) WRITABLE(M, __VA_ARGS__) M(__constant, __VA_ARGS__)
READABLE(LOAD, 2)
READABLE(LOAD, 4)
READABLE(LOAD, 8)
READABLE(LOAD, 16)
READABLE(LOAD_3, )
WRITABLE(STORE, 2)
WRITABLE(STORE, 4)
WRITABLE(STORE, 8)
WRITABLE(STORE, 16)
WRITABLE(STORE_3, )

/* Conversions from halfs: through floats, which represent all of them. */

#define FROM_HALF(N, T, SUFFIX)                                                                                        \
    T##N BUILTIN convert_##T##N##SUFFIX(float##N x);                                                                   \
    BUILTIN T##N convert_##T##N##SUFFIX(half##N x) { return convert_##T##N##SUFFIX(TO_FLOAT(N, x)); }
#define FROM_HALF_ROUNDED(T)                                                                                           \
    WIDTHS(FROM_HALF, T, )                                                                                             \
    WIDTHS(FROM_HALF, T, _rte)                                                                                         \
    WIDTHS(FROM_HALF, T, _rtz)                                                                                         \
    WIDTHS(FROM_HALF, T, _rtp)                                                                                         \
    WIDTHS(FROM_HALF, T, _rtn)                                                                                         \
    WIDTHS(FROM_HALF, T, _sat)                                                                                         \
    WIDTHS(FROM_HALF, T, _sat_rte)                                                                                     \
    WIDTHS(FROM_HALF, T, _sat_rtz)                                                                                     \
    WIDTHS(FROM_HALF, T, _sat_rtp)                                                                                     \
    WIDTHS(FROM_HALF, T, _sat_rtn)
FOR_INTEGERS(FROM_HALF_ROUNDED)

#define EXACT_SCALAR(_, T, SUFFIX)                                                                                     \
    BUILTIN T convert_##T##SUFFIX(half x) { return (T)x; }
#define EXACT(N, T, SUFFIX)                                                                                            \
    BUILTIN T##N convert_##T##N##SUFFIX(half##N x) { return __builtin_convertvector(x, T##N); }
#define EXACTS(T, SUFFIX) EXACT_SCALAR(, T, SUFFIX) VECTORS(EXACT, T, SUFFIX)
#define EXACTS_ROUNDED(T) EXACTS(T, ) EXACTS(T, _rte) EXACTS(T, _rtz) EXACTS(T, _rtp) EXACTS(T, _rtn)
EXACTS_ROUNDED(half)
EXACTS_ROUNDED(float)
EXACTS_ROUNDED(double)

/* To halfs: to the nearest, then one step if that was the wrong direction. Doubles represent every integer that does not overflow a half. */

INNER half step_down(half h, bool wrong) {
    short bits = __builtin_astype(h, short);
    short lower = h == (half)0 ? (short)0x8001 : bits > 0 ? bits - 1 : bits + 1;
    return wrong ? __builtin_astype(lower, half) : h;
}
INNER half step_up(half h, bool wrong) { return -step_down(-h, wrong); }

INNER half nearest(double x) { return (half)x; }
INNER half nearest_rte(double x) { return (half)x; }
INNER half nearest_rtn(double x) { return step_down((half)x, (double)(half)x > x); }
INNER half nearest_rtp(double x) { return step_up((half)x, (double)(half)x < x); }
INNER half nearest_rtz(double x) { return x < 0 ? nearest_rtp(x) : nearest_rtn(x); }

#define ROUND_0(I) nearest((double)x.s##I)
#define ROUND_rte(I) nearest_rte((double)x.s##I)
#define ROUND_rtz(I) nearest_rtz((double)x.s##I)
#define ROUND_rtp(I) nearest_rtp((double)x.s##I)
#define ROUND_rtn(I) nearest_rtn((double)x.s##I)
#define INTO_HALF(N, T, SUFFIX, ROUND)                                                                                 \
    BUILTIN half##N convert_half##N##SUFFIX(T##N x) { return (half##N)EACH_##N(ROUND); }
#define INTO(T, SUFFIX, ROUND)                                                                                         \
    BUILTIN half convert_half##SUFFIX(T x) { return nearest##SUFFIX((double)x); }                                      \
    VECTORS(INTO_HALF, T, SUFFIX, ROUND)
#define INTO_ROUNDED(T)                                                                                                \
    INTO(T, , ROUND_0) INTO(T, _rte, ROUND_rte) INTO(T, _rtz, ROUND_rtz) INTO(T, _rtp, ROUND_rtp) INTO(T, _rtn, ROUND_rtn)
FOR_INTEGERS(INTO_ROUNDED)
INTO_ROUNDED(float)
INTO_ROUNDED(double)
