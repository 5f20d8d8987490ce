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
