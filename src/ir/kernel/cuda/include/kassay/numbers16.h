/* What CUDA has alike for `__half` and `__nv_bfloat16` (T) and for pairs of them (T2): from conversions to and from floats, which
 * are exact one way, `__hadd`, `__hsub`, `__hmul`, `__hdiv`, `__hfma`, `__hmax`, `__hmin` and `__habs`. */
#pragma once
#include <kassay/cuda.h>

#define KASSAY_PAIR_1(T2, NAME, OF) KASSAY_INNER T2 NAME(T2 a) { return T2(OF(a.x), OF(a.y)); }
#define KASSAY_PAIR_2(T2, NAME, OF) KASSAY_INNER T2 NAME(T2 a, T2 b) { return T2(OF(a.x, b.x), OF(a.y, b.y)); }
#define KASSAY_PAIR_3(T2, NAME, OF)                                                                                    \
    KASSAY_INNER T2 NAME(T2 a, T2 b, T2 c) { return T2(OF(a.x, b.x, c.x), OF(a.y, b.y, c.y)); }

/* A comparison, of pairs half by half. Those with `u` also hold where a number is NaN, and no other does. */
#define KASSAY_COMPARISON_16(T, T2, NAME, TEST)                                                                        \
    KASSAY_BOTH bool __h##NAME(T p, T q) {                                                                             \
        float a = p, b = q;                                                                                            \
        return TEST;                                                                                                   \
    }                                                                                                                  \
    KASSAY_BOTH bool __hb##NAME##2(T2 p, T2 q) { return __h##NAME(p.x, q.x) && __h##NAME(p.y, q.y); }                  \
    KASSAY_BOTH T2 __h##NAME##2(T2 p, T2 q) {                                                                          \
        return T2(T(__h##NAME(p.x, q.x) ? 1.0f : 0.0f), T(__h##NAME(p.y, q.y) ? 1.0f : 0.0f));                         \
    }                                                                                                                  \
    KASSAY_BOTH unsigned __h##NAME##2_mask(T2 p, T2 q) {                                                               \
        return (__h##NAME(p.x, q.x) ? 0xffffu : 0) | (__h##NAME(p.y, q.y) ? 0xffff0000u : 0);                          \
    }
#define KASSAY_COMPARISONS_16(T, T2)                                                                                   \
    KASSAY_COMPARISON_16(T, T2, eq, a == b) KASSAY_COMPARISON_16(T, T2, ne, a < b || a > b)                            \
    KASSAY_COMPARISON_16(T, T2, lt, a < b) KASSAY_COMPARISON_16(T, T2, gt, a > b)                                      \
    KASSAY_COMPARISON_16(T, T2, le, a <= b) KASSAY_COMPARISON_16(T, T2, ge, a >= b)                                    \
    KASSAY_COMPARISON_16(T, T2, equ, !(a < b || a > b)) KASSAY_COMPARISON_16(T, T2, neu, a != b)                       \
    KASSAY_COMPARISON_16(T, T2, ltu, !(a >= b)) KASSAY_COMPARISON_16(T, T2, gtu, !(a <= b))                            \
    KASSAY_COMPARISON_16(T, T2, leu, !(a > b)) KASSAY_COMPARISON_16(T, T2, geu, !(a < b))                              \
    KASSAY_BOTH bool __hisnan(T a) { return (float)a != (float)a; }                                                    \
    KASSAY_BOTH int __hisinf(T p) {                                                                                    \
        float a = p;                                                                                                   \
        return a == __builtin_inff() ? 1 : a == -__builtin_inff() ? -1 : 0;                                            \
    }                                                                                                                  \
    KASSAY_BOTH T2 __hisnan2(T2 a) {                                                                                   \
        return T2(T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f));                                     \
    }

#define KASSAY_ARITHMETIC_16(T, T2)                                                                                    \
    KASSAY_BOTH T __kassay_saturated(T p) {                                                                            \
        float a = p;                                                                                                   \
        return a > 0.0f ? a < 1.0f ? p : T(1.0f) : T(0.0f);                                                            \
    }                                                                                                                  \
    KASSAY_BOTH T __kassay_rectified(T p) { return (float)p <= 0.0f ? T(0.0f) : p; }                                   \
    KASSAY_BOTH T __hadd_sat(T a, T b) { return __kassay_saturated(__hadd(a, b)); }                                    \
    KASSAY_BOTH T __hsub_sat(T a, T b) { return __kassay_saturated(__hsub(a, b)); }                                    \
    KASSAY_BOTH T __hmul_sat(T a, T b) { return __kassay_saturated(__hmul(a, b)); }                                    \
    KASSAY_INNER T __hfma_sat(T a, T b, T c) { return __kassay_saturated(__hfma(a, b, c)); }                           \
    KASSAY_INNER T __hfma_relu(T a, T b, T c) { return __kassay_rectified(__hfma(a, b, c)); }                          \
    KASSAY_INNER T __hmax_nan(T a, T b) {                                                                              \
        return __hisnan(a) || __hisnan(b) ? T(__builtin_nanf("")) : __hmax(a, b);                                      \
    }                                                                                                                  \
    KASSAY_INNER T __hmin_nan(T a, T b) {                                                                              \
        return __hisnan(a) || __hisnan(b) ? T(__builtin_nanf("")) : __hmin(a, b);                                      \
    }                                                                                                                  \
    KASSAY_PAIR_2(T2, __hadd2_sat, __hadd_sat) KASSAY_PAIR_2(T2, __hsub2_sat, __hsub_sat)                              \
    KASSAY_PAIR_2(T2, __hmul2_sat, __hmul_sat) KASSAY_PAIR_2(T2, __h2div, __hdiv)                                      \
    KASSAY_PAIR_3(T2, __hfma2, __hfma) KASSAY_PAIR_3(T2, __hfma2_sat, __hfma_sat)                                      \
    KASSAY_PAIR_3(T2, __hfma2_relu, __hfma_relu)                                                                       \
    KASSAY_PAIR_2(T2, __hmax2, __hmax) KASSAY_PAIR_2(T2, __hmin2, __hmin)                                              \
    KASSAY_PAIR_2(T2, __hmax2_nan, __hmax_nan) KASSAY_PAIR_2(T2, __hmin2_nan, __hmin_nan)                              \
    KASSAY_PAIR_1(T2, __habs2, __habs) KASSAY_PAIR_1(T2, __hneg2, __hneg)                                              \
    /* Of complex numbers. */                                                                                          \
    KASSAY_INNER T2 __hcmadd(T2 a, T2 b, T2 c) {                                                                       \
        return T2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));           \
    }

#define KASSAY_STEPS_16(T)                                                                                             \
    KASSAY_BOTH T operator+(T a) { return a; }                                                                         \
    KASSAY_BOTH T &operator++(T &a) { return a = __hadd(a, T(1.0f)); }                                                 \
    KASSAY_BOTH T &operator--(T &a) { return a = __hsub(a, T(1.0f)); }                                                 \
    KASSAY_BOTH T operator++(T &a, int) {                                                                              \
        T old = a;                                                                                                     \
        ++a;                                                                                                           \
        return old;                                                                                                    \
    }                                                                                                                  \
    KASSAY_BOTH T operator--(T &a, int) {                                                                              \
        T old = a;                                                                                                     \
        --a;                                                                                                           \
        return old;                                                                                                    \
    }
/* Pairs compare if both halves do. */
#define KASSAY_PAIRS_COMPARE(T2, O, HALVES)                                                                            \
    KASSAY_BOTH bool operator O(T2 a, T2 b) { return HALVES(a.x, b.x) && HALVES(a.y, b.y); }
#define KASSAY_PAIRS_COMPARED(T2)                                                                                      \
    KASSAY_PAIRS_COMPARE(T2, ==, __heq) KASSAY_PAIRS_COMPARE(T2, !=, __hneu) KASSAY_PAIRS_COMPARE(T2, <, __hlt)        \
    KASSAY_PAIRS_COMPARE(T2, >, __hgt) KASSAY_PAIRS_COMPARE(T2, <=, __hle) KASSAY_PAIRS_COMPARE(T2, >=, __hge)

/* To integers, which saturate. */
#define KASSAY_INTEGERS_ROUNDED(T, NAME, HOW)                                                                          \
    KASSAY_INNER int NAME##int_##HOW(T a) { return __float2int_##HOW((float)a); }                                      \
    KASSAY_INNER unsigned NAME##uint_##HOW(T a) { return __float2uint_##HOW((float)a); }                               \
    KASSAY_INNER long long NAME##ll_##HOW(T a) { return __float2ll_##HOW((float)a); }                                  \
    KASSAY_INNER unsigned long long NAME##ull_##HOW(T a) { return __float2ull_##HOW((float)a); }                       \
    KASSAY_INNER short NAME##short_##HOW(T a) { return (short)max(-32768, min(32767, __float2int_##HOW((float)a))); }  \
    KASSAY_INNER unsigned short NAME##ushort_##HOW(T a) {                                                              \
        return (unsigned short)max(0, min(65535, __float2int_##HOW((float)a)));                                        \
    }
#define KASSAY_TO_INTEGERS(T, NAME)                                                                                    \
    KASSAY_INTEGERS_ROUNDED(T, NAME, rn) KASSAY_INTEGERS_ROUNDED(T, NAME, rz)                                          \
    KASSAY_INTEGERS_ROUNDED(T, NAME, rd) KASSAY_INTEGERS_ROUNDED(T, NAME, ru)                                          \
    KASSAY_INNER signed char NAME##char_rz(T a) { return (signed char)max(-128, min(127, __float2int_rz((float)a))); } \
    KASSAY_INNER unsigned char NAME##uchar_rz(T a) { return (unsigned char)max(0, min(255, __float2int_rz((float)a))); }

/* In words of so many bits: NVIDIA's are of each half alone, which a word of both gives as well. */
#define KASSAY_ATOMIC_SUM(T, BITS)                                                                                     \
    KASSAY_INNER T atomicAdd(T *p, T v) {                                                                              \
        BITS *bits = (BITS *)p, old = __scoped_atomic_load_n(bits, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);           \
        while (!__scoped_atomic_compare_exchange_n(bits, &old,                                                         \
                                                   __builtin_bit_cast(BITS, T(__builtin_bit_cast(T, old) + v)), false, \
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)) {       \
        }                                                                                                              \
        return __builtin_bit_cast(T, old);                                                                             \
    }
