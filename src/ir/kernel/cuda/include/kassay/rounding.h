/* Arithmetic that rounds to zero, up or down (CUDA's `_rz`, `_ru`, `_rd`). OpenCL has none: the result is rounded to the
 * nearest, of what that is off the exact one the sign is found without error, and where it is on the wrong side the
 * neighbour is taken. Floats are computed as doubles, with a rest; doubles with products and quotients whose rests `fma`
 * gives, scaled so that nothing overflows or vanishes. */
#pragma once
#include <kassay/mathematics.h>

enum { KASSAY_RZ, KASSAY_RU, KASSAY_RD };

KASSAY_INNER int __kassay_sign(double x) { return (x > 0) - (x < 0); }
KASSAY_INNER unsigned long __kassay_bits(double x) { return __builtin_bit_cast(unsigned long, x); }
KASSAY_INNER bool __kassay_is_finite(double x) { return (__kassay_bits(x) >> 52 & 0x7ff) != 0x7ff; }
KASSAY_INNER bool __kassay_is_negative(double x) { return __kassay_bits(x) >> 63; }
/* 2^n for n from -1022 to 1023. */
KASSAY_INNER double __kassay_power(int n) { return __builtin_bit_cast(double, (unsigned long)(1023 + n) << 52); }

/* The bits of a float or double next to `bits`: away from zero or towards it. `off`: the sign of what the exact result is
 * above the rounded one. */
#define KASSAY_NEIGHBOUR(NAME, BITS, TOP)                                                                              \
    KASSAY_INNER BITS NAME(BITS bits, int off, int direction) {                                                        \
        bool negative = bits >> TOP, zero = (BITS)(bits << 1) == 0;                                                    \
        bool up = off > 0 && (direction == KASSAY_RU || (direction == KASSAY_RZ && negative && !zero));                \
        bool down = off < 0 && (direction == KASSAY_RD || (direction == KASSAY_RZ && !negative && !zero));             \
        if (zero) return up ? 1 : down ? ((BITS)1 << TOP) + 1 : bits;                                                  \
        return bits + (up != down ? (up != negative ? 1 : -1) : 0);                                                    \
    }
KASSAY_NEIGHBOUR(__kassay_neighbour, unsigned, 31) KASSAY_NEIGHBOUR(__kassay_neighbour, unsigned long, 63)

/* The sum of `high` and of `low`, which is less than half a unit of it, as a float. */
KASSAY_INNER float __kassay_rounded(double high, double low, int direction) {
    float nearest = (float)high;
    int off = nearest != high ? (nearest < high ? 1 : -1) : __kassay_sign(low);
    if (!__kassay_is_finite(high)) off = 0;
    return __builtin_bit_cast(float, __kassay_neighbour(__builtin_bit_cast(unsigned, nearest), off, direction));
}
KASSAY_INNER double __kassay_rounded(double nearest, int off, int direction) {
    return __builtin_bit_cast(double, __kassay_neighbour(__kassay_bits(nearest), off, direction));
}
/* What `sum`, which is a + b to the nearest, lacks. */
KASSAY_INNER double __kassay_rest(double a, double b, double sum) {
    double large = fabs(a) < fabs(b) ? b : a, small = fabs(a) < fabs(b) ? a : b;
    return small - (sum - large);
}
/* Sums that are exactly zero: of different signs, they are negative where one rounds down. */
KASSAY_INNER bool __kassay_is_minus_zero(double a, double b, double sum, int direction) {
    return direction == KASSAY_RD && sum == 0 && !(a == 0 && b == 0 && !__kassay_is_negative(a) && !__kassay_is_negative(b));
}

KASSAY_INNER float __kassay_add(float x, float y, int direction) {
    double sum = (double)x + y;
    if (__kassay_is_minus_zero(x, y, sum, direction)) return -0.0f;
    return __kassay_rounded(sum, __kassay_is_finite(sum) ? __kassay_rest(x, y, sum) : 0, direction);
}
KASSAY_INNER float __kassay_multiply(float x, float y, int direction) {
    return __kassay_rounded((double)x * y, 0.0, direction);
}
KASSAY_INNER float __kassay_fma(float x, float y, float z, int direction) {
    double product = (double)x * y, sum = product + z;
    if (__kassay_is_minus_zero(product, z, sum, direction)) return -0.0f;
    return __kassay_rounded(sum, __kassay_is_finite(sum) ? __kassay_rest(product, z, sum) : 0, direction);
}
KASSAY_INNER float __kassay_divide(float x, float y, int direction) {
    double quotient = (double)x / y;
    bool exact = !__kassay_is_finite(quotient) || !__kassay_is_finite(y);
    double rest = exact ? 0 : fma(-quotient, (double)y, (double)x);
    return __kassay_rounded(quotient, y < 0 ? -rest : rest, direction);
}
KASSAY_INNER float __kassay_root(float x, int direction) {
    double root = sqrt((double)x);
    return __kassay_rounded(root, __kassay_is_finite(root) ? fma(-root, root, (double)x) : 0, direction);
}

/* What is beyond all numbers is below infinity. */
KASSAY_INNER int __kassay_off_overflow(double nearest) { return nearest > 0 ? -1 : 1; }
KASSAY_INNER double __kassay_add(double x, double y, int direction) {
    double sum = x + y;
    if (!__kassay_is_finite(x) || !__kassay_is_finite(y)) return sum;
    if (!__kassay_is_finite(sum)) return __kassay_rounded(sum, __kassay_off_overflow(sum), direction);
    if (__kassay_is_minus_zero(x, y, sum, direction)) return -0.0;
    return __kassay_rounded(sum, __kassay_sign(__kassay_rest(x, y, sum)), direction);
}

/* A number that is not zero as one from 1 to 2 and a power of two. */
struct __kassay_scaled { double part; int exponent; };
KASSAY_INNER __kassay_scaled __kassay_scale(double x) {
    bool tiny = fabs(x) < 0x1p-1022;
    unsigned long bits = __kassay_bits(tiny ? x * 0x1p54 : x);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023 - (tiny ? 54 : 0);
    return __kassay_scaled{__builtin_bit_cast(double, (bits & 0x800fffffffffffffull) | 0x3ff0000000000000ull), exponent};
}
/* x * 2^n, where that is a number and near 1. */
KASSAY_INNER double __kassay_moved(double x, int n) { return x * __kassay_power(n / 2) * __kassay_power(n - n / 2); }

KASSAY_INNER double __kassay_multiply(double x, double y, int direction) {
    double product = x * y;
    if (!__kassay_is_finite(x) || !__kassay_is_finite(y) || x == 0 || y == 0) return product;
    int off = __kassay_is_negative(x) != __kassay_is_negative(y) ? -1 : 1;
    if (!__kassay_is_finite(product)) off = __kassay_off_overflow(product);
    else if (product != 0) {
        __kassay_scaled a = __kassay_scale(x), b = __kassay_scale(y);
        double high = a.part * b.part, rest = fma(a.part, b.part, -high);
        double more = high - __kassay_moved(product, -a.exponent - b.exponent);
        off = __kassay_sign(more != 0 ? more : rest);
    }
    return __kassay_rounded(product, off, direction);
}
KASSAY_INNER double __kassay_divide(double x, double y, int direction) {
    double quotient = x / y;
    if (!__kassay_is_finite(x) || !__kassay_is_finite(y) || x == 0 || y == 0) return quotient;
    int off = __kassay_is_negative(x) != __kassay_is_negative(y) ? -1 : 1;
    if (!__kassay_is_finite(quotient)) off = __kassay_off_overflow(quotient);
    else if (quotient != 0) {
        __kassay_scaled a = __kassay_scale(x), b = __kassay_scale(y);
        double rest = fma(-__kassay_moved(quotient, b.exponent - a.exponent), b.part, a.part);
        off = __kassay_sign(y < 0 ? -rest : rest);
    }
    return __kassay_rounded(quotient, off, direction);
}
KASSAY_INNER double __kassay_root(double x, int direction) {
    double root = sqrt(x);
    if (!__kassay_is_finite(root) || root == 0) return root;
    double scale = x < 1 ? 0x1p300 : 1, scaled = root * scale;
    return __kassay_rounded(root, __kassay_sign(fma(-scaled, scaled, x * scale * scale)), direction);
}

/* A number `e` is added to the sum of `parts`, of which none overlaps another and the last is the largest (Shewchuk 1997). */
template <int N> KASSAY_INNER void __kassay_grow(double (&parts)[4], double e) {
    for (int i = 0; i < N; i++) {
        double sum = e + parts[i], of_part = sum - e;
        parts[i] = (e - (sum - of_part)) + (parts[i] - of_part);
        e = sum;
    }
    parts[N] = e;
}
KASSAY_INNER double __kassay_fma(double x, double y, double z, int direction) {
    if (!__kassay_is_finite(x) || !__kassay_is_finite(y) || !__kassay_is_finite(z)) return fma(x, y, z);
    if (x == 0 || y == 0) return __kassay_add(x * y, z, direction);
    if (z == 0) return __kassay_multiply(x, y, direction);
    double nearest = fma(x, y, z);
    bool negative = __kassay_is_negative(x) != __kassay_is_negative(y);
    int off = negative ? -1 : 1;
    if (!__kassay_is_finite(nearest)) off = __kassay_off_overflow(nearest);
    else if (nearest != z) {
        /* The product and the sum are near each other now; what is far below both only has a sign. */
        __kassay_scaled a = __kassay_scale(x), b = __kassay_scale(y), c = __kassay_scale(z);
        int product = a.exponent + b.exponent, distance = c.exponent - product;
        double high = a.part * b.part;
        double parts[4] = {fma(a.part, b.part, -high), high};
        __kassay_grow<2>(parts, c.part * __kassay_power(distance < -300 ? -300 : distance));
        __kassay_grow<3>(parts, -(nearest == 0 ? 0.0 : __kassay_moved(nearest, -product)));
        for (int i = 0; i < 4; i++) off = i == 0 ? __kassay_sign(parts[0]) : parts[i] != 0 ? __kassay_sign(parts[i]) : off;
        if (nearest == 0 && off == 0) return direction == KASSAY_RD ? -0.0 : 0.0;
    }
    return __kassay_rounded(nearest, off, direction);
}

#define KASSAY_ROUNDINGS(R, D)                                                                                         \
    KASSAY_INNER float __fadd_##R(float x, float y) { return __kassay_add(x, y, D); }                                  \
    KASSAY_INNER float __fsub_##R(float x, float y) { return __kassay_add(x, -y, D); }                                 \
    KASSAY_INNER float __fmul_##R(float x, float y) { return __kassay_multiply(x, y, D); }                             \
    KASSAY_INNER float __fdiv_##R(float x, float y) { return __kassay_divide(x, y, D); }                               \
    KASSAY_INNER float __frcp_##R(float x) { return __kassay_divide(1.0f, x, D); }                                     \
    KASSAY_INNER float __fsqrt_##R(float x) { return __kassay_root(x, D); }                                            \
    KASSAY_INNER float __fmaf_##R(float x, float y, float z) { return __kassay_fma(x, y, z, D); }                      \
    KASSAY_INNER float __fmaf_ieee_##R(float x, float y, float z) { return __kassay_fma(x, y, z, D); }                 \
    KASSAY_INNER double __dadd_##R(double x, double y) { return __kassay_add(x, y, D); }                               \
    KASSAY_INNER double __dsub_##R(double x, double y) { return __kassay_add(x, -y, D); }                              \
    KASSAY_INNER double __dmul_##R(double x, double y) { return __kassay_multiply(x, y, D); }                          \
    KASSAY_INNER double __ddiv_##R(double x, double y) { return __kassay_divide(x, y, D); }                            \
    KASSAY_INNER double __drcp_##R(double x) { return __kassay_divide(1.0, x, D); }                                    \
    KASSAY_INNER double __dsqrt_##R(double x) { return __kassay_root(x, D); }                                          \
    KASSAY_INNER double __fma_##R(double x, double y, double z) { return __kassay_fma(x, y, z, D); }
KASSAY_ROUNDINGS(rz, KASSAY_RZ) KASSAY_ROUNDINGS(ru, KASSAY_RU) KASSAY_ROUNDINGS(rd, KASSAY_RD)
