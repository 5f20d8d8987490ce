// Median of three places on a ring, capped; its sign is turned where the place's number has an odd number of set bits.
//
// Fixture: decisions inside macros (if, ?:, do {} while (0)), one of them expanded three times; helpers from an included
// header, one of them plain `inline`; a -D option that changes what a macro does.

#include "mix.h"

__kernel void macro_mix(__global const int *ring, __global int *out, __global int *trace, const int n, const int cap)
{
    const int i = get_global_id(0);

    LEAVE_IF(i >= n);

    int a = ring[wrapped(i - 1, n)];
    int b = ring[i];
    int c = ring[wrapped(i + 1, n)];

    ORDER(a, b);
    ORDER(b, c);
    ORDER(a, b);
    b = LESSER(b, cap);
    NOTE(trace[i], b);
    out[i] = odd_bits(i) ? -b : b;
}
