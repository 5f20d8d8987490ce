/* Functions on the two halves or the four bytes of a word (CUDA Math API, "SIMD Intrinsics"). */
#pragma once
#include <kassay/attributes.h>

/* What `op` makes of the lanes of `a` and `b`, which have type `T` and are `BITS` wide: each result is cut to a lane. */
template <typename T, typename OP> KASSAY_INNER unsigned __kassay_lanes_of(unsigned a, unsigned b, OP op) {
    const int bits = 8 * sizeof(T);
    unsigned all = 0;
    for (int at = 0; at < 32; at += bits)
        all |= ((unsigned)op((int)(T)(a >> at), (int)(T)(b >> at)) & ((1u << bits) - 1)) << at;
    return all;
}

/* The sum of the distances of lanes. */
template <typename T> KASSAY_INNER unsigned __kassay_distance(unsigned a, unsigned b) {
    unsigned sum = 0;
    for (int at = 0; at < 32; at += 8 * sizeof(T)) {
        const int p = (T)(a >> at), q = (T)(b >> at);
        sum += p < q ? q - p : p - q;
    }
    return sum;
}

#define KASSAY_LANES(NAME, T, WHAT)                                                                                    \
    KASSAY_INNER unsigned NAME(unsigned a, unsigned b) {                                                               \
        return __kassay_lanes_of<T>(a, b, [](int p, int q) __attribute__((device, always_inline, nodebug)) { return WHAT; }); \
    }
#define KASSAY_LANES_OF_ONE(NAME, T, WHAT)                                                                             \
    KASSAY_INNER unsigned NAME(unsigned a) {                                                                           \
        return __kassay_lanes_of<T>(a, 0, [](int p, int) __attribute__((device, always_inline, nodebug)) { return WHAT; }); \
    }
#define KASSAY_CLAMPED(V, LEAST, GREATEST) ((V) < (LEAST) ? (LEAST) : (V) > (GREATEST) ? (GREATEST) : (V))
/* `N` lanes, of types `S` and `U`; the least and greatest signed number, the greatest unsigned one. */
#define KASSAY_COMPARED(NAME, N, T, OP)                                                                                \
    KASSAY_LANES(__vcmp##NAME##N, T, p OP q ? -1 : 0) KASSAY_LANES(__vset##NAME##N, T, p OP q ? 1 : 0)
#define KASSAY_SIMD(N, S, U, LEAST, GREATEST, ALL)                                                                     \
    KASSAY_LANES(__vadd##N, S, p + q) KASSAY_LANES(__vsub##N, S, p - q)                                                \
    KASSAY_LANES(__vaddss##N, S, KASSAY_CLAMPED(p + q, LEAST, GREATEST))                                               \
    KASSAY_LANES(__vsubss##N, S, KASSAY_CLAMPED(p - q, LEAST, GREATEST))                                               \
    KASSAY_LANES(__vaddus##N, U, KASSAY_CLAMPED(p + q, 0, ALL)) KASSAY_LANES(__vsubus##N, U, KASSAY_CLAMPED(p - q, 0, ALL)) \
    KASSAY_LANES(__vmaxs##N, S, p < q ? q : p) KASSAY_LANES(__vmaxu##N, U, p < q ? q : p)                              \
    KASSAY_LANES(__vmins##N, S, q < p ? q : p) KASSAY_LANES(__vminu##N, U, q < p ? q : p)                              \
    KASSAY_LANES(__vavgs##N, S, (p + q + (p + q >= 0)) >> 1) KASSAY_LANES(__vavgu##N, U, (p + q + 1) >> 1)             \
    KASSAY_LANES(__vhaddu##N, U, (p + q) >> 1)                                                                         \
    KASSAY_LANES(__vabsdiffs##N, S, p < q ? q - p : p - q) KASSAY_LANES(__vabsdiffu##N, U, p < q ? q - p : p - q)      \
    KASSAY_LANES_OF_ONE(__vabs##N, S, p < 0 ? -p : p) KASSAY_LANES_OF_ONE(__vneg##N, S, -p)                            \
    KASSAY_LANES_OF_ONE(__vabsss##N, S, p == LEAST ? GREATEST : p < 0 ? -p : p)                                        \
    KASSAY_LANES_OF_ONE(__vnegss##N, S, p == LEAST ? GREATEST : -p)                                                    \
    KASSAY_COMPARED(eq, N, S, ==) KASSAY_COMPARED(ne, N, S, !=)                                                        \
    KASSAY_COMPARED(ges, N, S, >=) KASSAY_COMPARED(gts, N, S, >) KASSAY_COMPARED(les, N, S, <=)                        \
    KASSAY_COMPARED(lts, N, S, <)                                                                                      \
    KASSAY_COMPARED(geu, N, U, >=) KASSAY_COMPARED(gtu, N, U, >) KASSAY_COMPARED(leu, N, U, <=)                        \
    KASSAY_COMPARED(ltu, N, U, <)                                                                                      \
    KASSAY_INNER unsigned __vsads##N(unsigned a, unsigned b) { return __kassay_distance<S>(a, b); }                    \
    KASSAY_INNER unsigned __vsadu##N(unsigned a, unsigned b) { return __kassay_distance<U>(a, b); }
KASSAY_SIMD(2, short, unsigned short, -32768, 32767, 65535)
KASSAY_SIMD(4, signed char, unsigned char, -128, 127, 255)

/* Of dynamic programming ("DPX"): sums, greatest and least numbers of three operands, of 32 bits and of both halves. */
template <typename T> KASSAY_INNER T __kassay_greater(T a, T b) { return a < b ? b : a; }
template <typename T> KASSAY_INNER T __kassay_less(T a, T b) { return b < a ? b : a; }
template <typename T> KASSAY_INNER T __kassay_wrapped(T a, T b) { return (T)((unsigned)a + (unsigned)b); }
#define KASSAY_DPX_WORD(NAME, T, WHAT)                                                                                 \
    KASSAY_INNER T NAME(T p, T q, T r) { return WHAT(T); }
#define KASSAY_DPX_HALVES(NAME, N, WHAT)                                                                               \
    KASSAY_INNER unsigned NAME(unsigned a, unsigned b, unsigned c) {                                                   \
        unsigned all = 0;                                                                                              \
        for (int at = 0; at < 32; at += 16) {                                                                          \
            N p = (N)(a >> at), q = (N)(b >> at), r = (N)(c >> at);                                                    \
            all |= ((unsigned)WHAT(N) & 0xffff) << at;                                                                 \
        }                                                                                                              \
        return all;                                                                                                    \
    }
#define KASSAY_DPX(NAME, WHAT)                                                                                         \
    KASSAY_DPX_WORD(NAME##_s32, int, WHAT) KASSAY_DPX_WORD(NAME##_u32, unsigned, WHAT)                                 \
    KASSAY_DPX_HALVES(NAME##_s16x2, short, WHAT) KASSAY_DPX_HALVES(NAME##_u16x2, unsigned short, WHAT)                 \
    KASSAY_DPX_WORD(NAME##_s32_relu, int, KASSAY_RELU_##WHAT)                                                          \
    KASSAY_DPX_HALVES(NAME##_s16x2_relu, short, KASSAY_RELU_##WHAT)
#define KASSAY_ADD_MAX(N) __kassay_greater<N>(__kassay_wrapped<N>(p, q), r)
#define KASSAY_ADD_MIN(N) __kassay_less<N>(__kassay_wrapped<N>(p, q), r)
#define KASSAY_MAX_3(N) __kassay_greater<N>(__kassay_greater<N>(p, q), r)
#define KASSAY_MIN_3(N) __kassay_less<N>(__kassay_less<N>(p, q), r)
#define KASSAY_RELU_KASSAY_ADD_MAX(N) __kassay_greater<N>(KASSAY_ADD_MAX(N), 0)
#define KASSAY_RELU_KASSAY_ADD_MIN(N) __kassay_greater<N>(KASSAY_ADD_MIN(N), 0)
#define KASSAY_RELU_KASSAY_MAX_3(N) __kassay_greater<N>(KASSAY_MAX_3(N), 0)
#define KASSAY_RELU_KASSAY_MIN_3(N) __kassay_greater<N>(KASSAY_MIN_3(N), 0)
KASSAY_DPX(__viaddmax, KASSAY_ADD_MAX) KASSAY_DPX(__viaddmin, KASSAY_ADD_MIN)
KASSAY_DPX(__vimax3, KASSAY_MAX_3) KASSAY_DPX(__vimin3, KASSAY_MIN_3)
KASSAY_INNER int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
KASSAY_INNER int __vimin_s32_relu(int a, int b) { return __kassay_greater(__kassay_less(a, b), 0); }
KASSAY_INNER unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2(a, b, 0); }
KASSAY_INNER unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vimin3_s16x2_relu(a, b, b); }
/* They also say whether the first operand is the result, of the upper and the lower half. */
#define KASSAY_DPX_CHOICE(NAME, OP)                                                                                    \
    KASSAY_INNER int NAME##_s32(int a, int b, bool *first) { return (*first = a OP b) ? a : b; }                       \
    KASSAY_INNER unsigned NAME##_u32(unsigned a, unsigned b, bool *first) { return (*first = a OP b) ? a : b; }        \
    KASSAY_DPX_CHOICES(NAME##_s16x2, short, OP) KASSAY_DPX_CHOICES(NAME##_u16x2, unsigned short, OP)
#define KASSAY_DPX_CHOICES(NAME, N, OP)                                                                                \
    KASSAY_INNER unsigned NAME(unsigned a, unsigned b, bool *high, bool *low) {                                        \
        *high = (N)(a >> 16) OP (N)(b >> 16);                                                                          \
        *low = (N)a OP (N)b;                                                                                           \
        return ((*high ? a : b) & 0xffff0000u) | ((*low ? a : b) & 0xffff);                                            \
    }
KASSAY_DPX_CHOICE(__vibmax, >=) KASSAY_DPX_CHOICE(__vibmin, <=)
