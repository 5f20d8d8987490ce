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
