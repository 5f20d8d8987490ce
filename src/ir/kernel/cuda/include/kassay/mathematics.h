/* Mathematics: NAME for float, double and integers, NAMEf for float. OpenCL's builtin of the name does the work.
 *
 * libstdc++ takes these into `std` only if they are declared before its <cmath> is included. */
#pragma once
#include <kassay/attributes.h>

/* The type in which C++ computes with a mixture of arithmetic types; nothing for others. */
template <typename T> struct __kassay_arithmetic { static constexpr bool is = false; };
#define KASSAY_ARITHMETIC(T) template <> struct __kassay_arithmetic<T> { static constexpr bool is = true; };
KASSAY_ARITHMETIC(bool) KASSAY_ARITHMETIC(char) KASSAY_ARITHMETIC(signed char) KASSAY_ARITHMETIC(unsigned char)
KASSAY_ARITHMETIC(short) KASSAY_ARITHMETIC(unsigned short) KASSAY_ARITHMETIC(int) KASSAY_ARITHMETIC(unsigned)
KASSAY_ARITHMETIC(long) KASSAY_ARITHMETIC(unsigned long) KASSAY_ARITHMETIC(long long)
KASSAY_ARITHMETIC(unsigned long long) KASSAY_ARITHMETIC(float) KASSAY_ARITHMETIC(double)
template <bool, typename T> struct __kassay_if {};
template <typename T> struct __kassay_if<true, T> { typedef T type; };
template <typename... T> using __kassay_double = typename __kassay_if<(__kassay_arithmetic<T>::is && ...), double>::type;

/* LETTERS: how many the builtin's name has, for Itanium's mangling. */
#define KASSAY_UNARY(NAME, BUILTIN, LETTERS)                                                                           \
    __device__ float NAME##f(float) KASSAY_COMPUTES("_Z" #LETTERS #BUILTIN "f");                                       \
    __device__ float NAME(float) KASSAY_COMPUTES("_Z" #LETTERS #BUILTIN "f");                                          \
    __device__ double NAME(double) KASSAY_COMPUTES("_Z" #LETTERS #BUILTIN "d");                                        \
    template <typename T> KASSAY_INNER __kassay_double<T> NAME(T x) { return NAME((double)x); }
#define KASSAY_BINARY(NAME, BUILTIN, LETTERS)                                                                          \
    __device__ float NAME##f(float, float) KASSAY_COMPUTES("_Z" #LETTERS #BUILTIN "ff");                               \
    __device__ float NAME(float, float) KASSAY_COMPUTES("_Z" #LETTERS #BUILTIN "ff");                                  \
    __device__ double NAME(double, double) KASSAY_COMPUTES("_Z" #LETTERS #BUILTIN "dd");                               \
    template <typename T, typename U> KASSAY_INNER __kassay_double<T, U> NAME(T x, U y) {                              \
        return NAME((double)x, (double)y);                                                                             \
    }
#define KASSAY_UNARIES(M)                                                                                              \
    M(sqrt, sqrt, 4) M(cbrt, cbrt, 4) M(exp, exp, 3) M(exp2, exp2, 4) M(expm1, expm1, 5) M(log, log, 3)                \
    M(log2, log2, 4) M(log10, log10, 5) M(log1p, log1p, 5) M(sin, sin, 3) M(cos, cos, 3) M(tan, tan, 3)                \
    M(asin, asin, 4) M(acos, acos, 4) M(atan, atan, 4) M(sinh, sinh, 4) M(cosh, cosh, 4) M(tanh, tanh, 4)              \
    M(asinh, asinh, 5) M(acosh, acosh, 5) M(atanh, atanh, 5) M(floor, floor, 5) M(ceil, ceil, 4) M(trunc, trunc, 5)    \
    M(round, round, 5) M(rint, rint, 4) M(nearbyint, rint, 4) M(fabs, fabs, 4) M(erf, erf, 3) M(erfc, erfc, 4)         \
    M(lgamma, lgamma, 6) M(logb, logb, 4)
#define KASSAY_BINARIES(M)                                                                                             \
    M(pow, pow, 3) M(atan2, atan2, 5) M(fmod, fmod, 4) M(hypot, hypot, 5) M(fmin, fmin, 4) M(fmax, fmax, 4)            \
    M(fdim, fdim, 4) M(copysign, copysign, 8) M(remainder, remainder, 9) M(nextafter, nextafter, 9)
KASSAY_UNARIES(KASSAY_UNARY)
KASSAY_BINARIES(KASSAY_BINARY)

__device__ float tgammaf(float) KASSAY_COMPUTES("_Z6tgammaf");
__device__ float tgamma(float) KASSAY_COMPUTES("_Z6tgammaf");
__device__ double __kassay_tgamma(double) KASSAY_COMPUTES("_Z6tgammad");
/* Of -0.0 it is -infinity, which libraries of OpenCL miss. */
KASSAY_INNER double tgamma(double x) { return x == 0 ? copysign(__builtin_inf(), x) : __kassay_tgamma(x); }
template <typename T> KASSAY_INNER __kassay_double<T> tgamma(T x) { return tgamma((double)x); }
__device__ float fmaf(float, float, float) KASSAY_COMPUTES("_Z3fmafff");
__device__ float fma(float, float, float) KASSAY_COMPUTES("_Z3fmafff");
__device__ double fma(double, double, double) KASSAY_COMPUTES("_Z3fmaddd");
template <typename T, typename U, typename V> KASSAY_INNER __kassay_double<T, U, V> fma(T x, U y, V z) {
    return fma((double)x, (double)y, (double)z);
}
__device__ float rsqrtf(float) KASSAY_COMPUTES("_Z5rsqrtf");
__device__ float rsqrt(float) KASSAY_COMPUTES("_Z5rsqrtf");
__device__ double rsqrt(double) KASSAY_COMPUTES("_Z5rsqrtd");
__device__ float exp10f(float) KASSAY_COMPUTES("_Z5exp10f");
__device__ float exp10(float) KASSAY_COMPUTES("_Z5exp10f");
__device__ double exp10(double) KASSAY_COMPUTES("_Z5exp10d");
__device__ float sinpif(float) KASSAY_COMPUTES("_Z5sinpif");
__device__ float sinpi(float) KASSAY_COMPUTES("_Z5sinpif");
__device__ double sinpi(double) KASSAY_COMPUTES("_Z5sinpid");
__device__ float cospif(float) KASSAY_COMPUTES("_Z5cospif");
__device__ float cospi(float) KASSAY_COMPUTES("_Z5cospif");
__device__ double cospi(double) KASSAY_COMPUTES("_Z5cospid");
__device__ float ldexpf(float, int) KASSAY_COMPUTES("_Z5ldexpfi");
__device__ float ldexp(float, int) KASSAY_COMPUTES("_Z5ldexpfi");
__device__ double ldexp(double, int) KASSAY_COMPUTES("_Z5ldexpdi");
__device__ float scalbnf(float, int) KASSAY_COMPUTES("_Z5ldexpfi");
__device__ float scalbn(float, int) KASSAY_COMPUTES("_Z5ldexpfi");
__device__ double scalbn(double, int) KASSAY_COMPUTES("_Z5ldexpdi");
__device__ int ilogbf(float) KASSAY_COMPUTES("_Z5ilogbf");
__device__ int ilogb(float) KASSAY_COMPUTES("_Z5ilogbf");
__device__ int ilogb(double) KASSAY_COMPUTES("_Z5ilogbd");
__device__ float frexpf(float, int *) KASSAY_AS("_Z5frexpfPU3AS4i");
__device__ float frexp(float, int *) KASSAY_AS("_Z5frexpfPU3AS4i");
__device__ double frexp(double, int *) KASSAY_AS("_Z5frexpdPU3AS4i");
__device__ float modff(float, float *) KASSAY_AS("_Z4modffPU3AS4f");
__device__ float modf(float, float *) KASSAY_AS("_Z4modffPU3AS4f");
__device__ double modf(double, double *) KASSAY_AS("_Z4modfdPU3AS4d");
KASSAY_INNER float rcbrtf(float x) { return 1.0f / cbrtf(x); }
KASSAY_INNER double rcbrt(double x) { return 1.0 / cbrt(x); }
KASSAY_INNER void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
KASSAY_INNER void sincos(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
KASSAY_INNER void sincos(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }
KASSAY_INNER void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }
KASSAY_INNER void sincospi(double x, double *s, double *c) { *s = sinpi(x); *c = cospi(x); }
KASSAY_INNER float normcdff(float x) { return 0.5f * erfcf(-x * 0.707106781186547524f); }
KASSAY_INNER double normcdf(double x) { return 0.5 * erfc(-x * 0.707106781186547524); }
/* Without squares, which overflow and vanish. Reciprocals of lengths that overflow are those of a quarter of them. */
KASSAY_INNER float norm3df(float x, float y, float z) { return hypotf(hypotf(x, y), z); }
KASSAY_INNER double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
KASSAY_INNER float norm4df(float x, float y, float z, float w) { return hypotf(hypotf(x, y), hypotf(z, w)); }
KASSAY_INNER double norm4d(double x, double y, double z, double w) { return hypot(hypot(x, y), hypot(z, w)); }
KASSAY_INNER float rhypotf(float x, float y) {
    float length = hypotf(x, y);
    return length == __builtin_inff() ? 0.25f / hypotf(0.25f * x, 0.25f * y) : 1.0f / length;
}
KASSAY_INNER double rhypot(double x, double y) {
    double length = hypot(x, y);
    return length == __builtin_inff() ? 0.25 / hypot(0.25 * x, 0.25 * y) : 1.0 / length;
}
KASSAY_INNER float rnorm3df(float x, float y, float z) {
    float length = norm3df(x, y, z);
    return length == __builtin_inff() ? 0.25f / norm3df(0.25f * x, 0.25f * y, 0.25f * z) : 1.0f / length;
}
KASSAY_INNER double rnorm3d(double x, double y, double z) {
    double length = norm3d(x, y, z);
    return length == __builtin_inff() ? 0.25 / norm3d(0.25 * x, 0.25 * y, 0.25 * z) : 1.0 / length;
}
#define KASSAY_LENGTHS(T, S)                                                                                           \
    KASSAY_INNER T rnorm4d##S(T x, T y, T z, T w) {                                                                    \
        T length = norm4d##S(x, y, z, w), quarter = (T)0.25;                                                           \
        return length == (T)__builtin_inf() ? quarter / norm4d##S(quarter * x, quarter * y, quarter * z, quarter * w)  \
                                            : 1 / length;                                                              \
    }                                                                                                                  \
    KASSAY_INNER T norm##S(int n, const T *p) {                                                                        \
        T length = 0;                                                                                                  \
        for (int i = 0; i < n; i++) length = hypot##S(length, p[i]);                                                   \
        return length;                                                                                                 \
    }                                                                                                                  \
    KASSAY_INNER T rnorm##S(int n, const T *p) { return 1 / norm##S(n, p); }
KASSAY_LENGTHS(float, f) KASSAY_LENGTHS(double, )
/* What is too large or too small becomes the nearest integer, NaN the least. */
__device__ long long __kassay_saturated(float) KASSAY_COMPUTES("_Z20convert_long_sat_rtef");
__device__ long long __kassay_saturated(double) KASSAY_COMPUTES("_Z20convert_long_sat_rted");
#define KASSAY_ROUNDED_TO(NAME, T, ROUND)                                                                              \
    KASSAY_INNER T NAME(float x) { return x == x ? __kassay_saturated(ROUND##f(x)) : (T)(1ull << 63); }                \
    KASSAY_INNER T NAME##f(float x) { return NAME(x); }                                                                \
    KASSAY_INNER T NAME(double x) { return x == x ? __kassay_saturated(ROUND(x)) : (T)(1ull << 63); }
KASSAY_ROUNDED_TO(lrint, long, rint) KASSAY_ROUNDED_TO(lround, long, round)
KASSAY_ROUNDED_TO(llrint, long long, rint) KASSAY_ROUNDED_TO(llround, long long, round)
#define KASSAY_NO_BUILTIN(NAME)                                                                                        \
    __device__ float NAME##f(float) KASSAY_ABSENT(#NAME "f");                                                          \
    __device__ double NAME(double) KASSAY_ABSENT(#NAME);
KASSAY_NO_BUILTIN(j0) KASSAY_NO_BUILTIN(j1) KASSAY_NO_BUILTIN(y0) KASSAY_NO_BUILTIN(y1) KASSAY_NO_BUILTIN(erfinv)
KASSAY_NO_BUILTIN(erfcinv) KASSAY_NO_BUILTIN(erfcx) KASSAY_NO_BUILTIN(normcdfinv) KASSAY_NO_BUILTIN(cyl_bessel_i0)
KASSAY_NO_BUILTIN(cyl_bessel_i1)

#define KASSAY_CLASSES(T)                                                                                              \
    KASSAY_INNER bool isnan(T x) { return __builtin_isnan(x); }                                                        \
    KASSAY_INNER bool isinf(T x) { return __builtin_isinf(x); }                                                        \
    KASSAY_INNER bool isfinite(T x) { return __builtin_isfinite(x); }                                                  \
    KASSAY_INNER bool signbit(T x) { return __builtin_signbit(x); }
KASSAY_CLASSES(float) KASSAY_CLASSES(double)
KASSAY_INNER int abs(int x) { return x < 0 ? -x : x; }
KASSAY_INNER long abs(long x) { return x < 0 ? -x : x; }
KASSAY_INNER long long abs(long long x) { return x < 0 ? -x : x; }
KASSAY_INNER float abs(float x) { return fabsf(x); }
KASSAY_INNER double abs(double x) { return fabs(x); }
KASSAY_INNER long labs(long x) { return x < 0 ? -x : x; }
KASSAY_INNER long long llabs(long long x) { return x < 0 ? -x : x; }

namespace std {
#define KASSAY_USING(NAME, BUILTIN, LETTERS) using ::NAME; using ::NAME##f;
KASSAY_UNARIES(KASSAY_USING)
KASSAY_BINARIES(KASSAY_USING)
using ::abs; using ::fma; using ::frexp; using ::ilogb; using ::isfinite; using ::isinf; using ::isnan; using ::ldexp;
using ::llrint; using ::llround; using ::lrint; using ::lround; using ::modf; using ::scalbn; using ::signbit;
using ::tgamma; using ::tgammaf;
} // namespace std

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <new>
#include <utility>
