// Each work-item evaluates the same decisions with conditions that are the bits of its value.
//
// Fixture: MC/DC, counted by hand in mcdc.toml. Decisions of two to six conditions in if, ?:, a loop's condition and values;
// nested on the right, under !, in an operand of ==; a ternary as operand; a condition that only masking shows; pairs whose
// vectors come from different tests. decisions.h also compiles for the host, to compare with clang's -fcoverage-mcdc.

#include "decisions.h"

__kernel void mcdc_decisions(__global const int *values, __global int *out, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        out[i] = decide(values[i]);
}
