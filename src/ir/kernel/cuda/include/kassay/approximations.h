/* Approximations and operations with a rounding of their own. */
#pragma once
#include <kassay/mathematics.h>

__device__ float __expf(float) KASSAY_COMPUTES("_Z10native_expf");
__device__ float __exp10f(float) KASSAY_COMPUTES("_Z12native_exp10f");
__device__ float __logf(float) KASSAY_COMPUTES("_Z10native_logf");
__device__ float __log2f(float) KASSAY_COMPUTES("_Z11native_log2f");
__device__ float __log10f(float) KASSAY_COMPUTES("_Z12native_log10f");
__device__ float __sinf(float) KASSAY_COMPUTES("_Z10native_sinf");
__device__ float __cosf(float) KASSAY_COMPUTES("_Z10native_cosf");
__device__ float __tanf(float) KASSAY_COMPUTES("_Z10native_tanf");
__device__ float __powf(float, float) KASSAY_COMPUTES("_Z11native_powrff");
KASSAY_INNER void __sincosf(float x, float *s, float *c) { *s = __sinf(x); *c = __cosf(x); }
/* 0 where 2^126 < |y| < 2^128, and NaN if x is infinite then. */
KASSAY_INNER float __fdividef(float x, float y) {
    return fabsf(y) > 0x1p126f && fabsf(y) < __builtin_inff() ? x * copysignf(0.0f, y) : x / y;
}
KASSAY_INNER float fdividef(float x, float y) { return x / y; }
/* NaN becomes 0, as fmaxf ignores it. */
KASSAY_INNER float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

/* To the nearest: what operators do. */
KASSAY_INNER float __fadd_rn(float x, float y) { return x + y; }
KASSAY_INNER float __fsub_rn(float x, float y) { return x - y; }
KASSAY_INNER float __fmul_rn(float x, float y) { return x * y; }
KASSAY_INNER float __fdiv_rn(float x, float y) { return x / y; }
KASSAY_INNER float __frcp_rn(float x) { return 1.0f / x; }
KASSAY_INNER float __fsqrt_rn(float x) { return sqrtf(x); }
KASSAY_INNER float __frsqrt_rn(float x) { return rsqrtf(x); }
KASSAY_INNER float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
KASSAY_INNER float __fmaf_ieee_rn(float x, float y, float z) { return fmaf(x, y, z); }
KASSAY_INNER double __dadd_rn(double x, double y) { return x + y; }
KASSAY_INNER double __dsub_rn(double x, double y) { return x - y; }
KASSAY_INNER double __dmul_rn(double x, double y) { return x * y; }
KASSAY_INNER double __ddiv_rn(double x, double y) { return x / y; }
KASSAY_INNER double __drcp_rn(double x) { return 1.0 / x; }
KASSAY_INNER double __dsqrt_rn(double x) { return sqrt(x); }
KASSAY_INNER double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

/* OpenCL has no other rounding of arithmetic. */
#define KASSAY_OTHER_ROUNDING(R)                                                                                       \
    __device__ float __fadd_##R(float, float) KASSAY_ABSENT("__fadd_" #R);                                             \
    __device__ float __fsub_##R(float, float) KASSAY_ABSENT("__fsub_" #R);                                             \
    __device__ float __fmul_##R(float, float) KASSAY_ABSENT("__fmul_" #R);                                             \
    __device__ float __fdiv_##R(float, float) KASSAY_ABSENT("__fdiv_" #R);                                             \
    __device__ float __frcp_##R(float) KASSAY_ABSENT("__frcp_" #R);                                                    \
    __device__ float __fsqrt_##R(float) KASSAY_ABSENT("__fsqrt_" #R);                                                  \
    __device__ float __fmaf_##R(float, float, float) KASSAY_ABSENT("__fmaf_" #R);                                      \
    __device__ double __dadd_##R(double, double) KASSAY_ABSENT("__dadd_" #R);                                          \
    __device__ double __dsub_##R(double, double) KASSAY_ABSENT("__dsub_" #R);                                          \
    __device__ double __dmul_##R(double, double) KASSAY_ABSENT("__dmul_" #R);                                          \
    __device__ double __ddiv_##R(double, double) KASSAY_ABSENT("__ddiv_" #R);                                          \
    __device__ double __drcp_##R(double) KASSAY_ABSENT("__drcp_" #R);                                                  \
    __device__ double __dsqrt_##R(double) KASSAY_ABSENT("__dsqrt_" #R);                                                \
    __device__ double __fma_##R(double, double, double) KASSAY_ABSENT("__fma_" #R);
KASSAY_OTHER_ROUNDING(rz) KASSAY_OTHER_ROUNDING(ru) KASSAY_OTHER_ROUNDING(rd)
