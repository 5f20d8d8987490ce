// Macros and helpers of macro_mix.cl: decisions and loops that stand in a header.

#ifndef MIX_H
#define MIX_H

#define LESSER(a, b) ((a) < (b) ? (a) : (b))

#define ORDER(low, high)                                                                                               \
    do {                                                                                                               \
        if ((low) > (high)) {                                                                                          \
            const int held = (low);                                                                                    \
            (low) = (high);                                                                                            \
            (high) = held;                                                                                             \
        }                                                                                                              \
    } while (0)

#define LEAVE_IF(condition)                                                                                            \
    if (condition)                                                                                                     \
    return

#ifdef TRACE
#define NOTE(slot, value) ((slot) = (value))
#else
#define NOTE(slot, value) ((void)0)
#endif

// The index i on a ring of n places.
static int wrapped(int i, const int n)
{
    while (i < 0)
        i += n;
    return i % n;
}

// Whether an odd number of bits is set.
inline int odd_bits(uint word)
{
    int odd = 0;
    for (; word != 0; word &= word - 1)
        odd = !odd;
    return odd;
}

#endif
