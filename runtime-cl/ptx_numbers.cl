/* Functions on numbers for NVIDIA GPUs: what a C library does on others (`host_numbers.cl`), and approximations that LLVM has no
 * instruction for. */

#include "host.h"

/* Exactly, as fmod has to be: LLVM would divide, round the quotient, and multiply. Eleven bits of the quotient at a time. */
INNER double exact_fmod(double x, double y) {
    const ulong fraction = 0xFFFFFFFFFFFFFul, implicit = fraction + 1;
    const ulong left = __builtin_astype(x, ulong) & (ulong)LONG_MAX, step = __builtin_astype(y, ulong) & (ulong)LONG_MAX;
    const ulong infinite = 0x7FFul << 52;
    if (left >= infinite || step == 0 || step > infinite) {
        return NAN;
    }
    if (left < step) {
        return x;
    }
    int from = (int)(left >> 52), to = (int)(step >> 52);
    const ulong divisor = to ? (step & fraction) | implicit : step;
    ulong rest = (from ? (left & fraction) | implicit : left) % divisor;
    /* The exponents of subnormal numbers are those of the least normal ones. */
    from = from ? from : 1;
    to = to ? to : 1;
    for (int more = from - to; more > 0; more -= 11) {
        rest = (rest << (more < 11 ? more : 11)) % divisor;
    }
    if (rest != 0) {
        const int shift = (int)__builtin_clzl(rest) - 11;
        rest = shift < to ? ((rest << shift) & fraction) | (ulong)(to - shift) << 52 : rest << (to - 1);
    }
    return __builtin_copysign(__builtin_astype(rest, double), x);
}

/* Powers of doubles, by libclc's powr, for ordinary bases and exponents: its pow is wrong for huge exponents. */

double BUILTIN powr(double x, double y);

BUILTIN double pow(double x, double y) {
    const double base = __builtin_fabs(x), exponent = __builtin_fabs(y);
    if (y == 0 || x == 1) {
        return 1;
    }
    const bool is_whole = exponent >= 0x1p53 || __builtin_floor(exponent) == exponent;
    if (x != x || y != y || (x < 0 && base < INFINITY && !is_whole)) {
        return NAN;
    }
    double power;
    if (base == 1) {
        power = 1;
    } else if (base == 0 || base == INFINITY || exponent > 0x1p64) {
        power = (base < 1) == (y > 0) ? 0 : INFINITY;
    } else {
        power = powr(base, y);
    }
    const bool is_odd = exponent < 0x1p53 && is_whole && ((long)exponent & 1);
    return is_odd && __builtin_astype(x, long) < 0 ? -power : power;
}

#define POW(I) pow(x.s##I, y.s##I)
#define POWERS(N, _)                                                                                                   \
    BUILTIN double##N pow(double##N x, double##N y) { return (double##N)EACH_##N(POW); }
VECTORS(POWERS, )

/* Approximations (6.15.2, native_*): PTX has those of base 2. */

float kassay_ptx_log2(float x) __asm("llvm.nvvm.lg2.approx.f");

BUILTIN float native_exp2(float x);

#define LOG2_E 0x1.715476p+0f
#define LOG_2 0x1.62e430p-1f
#define LOG10_2 0x1.344136p-2f

BUILTIN float native_exp(float x) { return native_exp2(x * LOG2_E); }
BUILTIN float native_log2(float x) { return kassay_ptx_log2(x); }
BUILTIN float native_log(float x) { return kassay_ptx_log2(x) * LOG_2; }
BUILTIN float native_log10(float x) { return kassay_ptx_log2(x) * LOG10_2; }
BUILTIN float native_powr(float x, float y) { return native_exp2(y * kassay_ptx_log2(x)); }

#define NATIVE_EXP(I) native_exp(x.s##I)
#define NATIVE_LOG2(I) native_log2(x.s##I)
#define NATIVE_LOG(I) native_log(x.s##I)
#define NATIVE_LOG10(I) native_log10(x.s##I)
#define NATIVE_POWR(I) native_powr(x.s##I, y.s##I)
#define NATIVES(N, _)                                                                                                  \
    BUILTIN float##N native_exp(float##N x) { return (float##N)EACH_##N(NATIVE_EXP); }                                 \
    BUILTIN float##N native_log2(float##N x) { return (float##N)EACH_##N(NATIVE_LOG2); }                               \
    BUILTIN float##N native_log(float##N x) { return (float##N)EACH_##N(NATIVE_LOG); }                                 \
    BUILTIN float##N native_log10(float##N x) { return (float##N)EACH_##N(NATIVE_LOG10); }                             \
    BUILTIN float##N native_powr(float##N x, float##N y) { return (float##N)EACH_##N(NATIVE_POWR); }
VECTORS(NATIVES, )
