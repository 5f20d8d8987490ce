// Steps of the Collatz sequence until 1 or a limit, for three numbers a work-item; the longest and the sum are kept.
//
// Fixture: one helper with a loop and a decision, called from three places (one of them inside another helper, one on a
// branch), so that its sites stand once although inlining would copy them.

static uint collatz(uint value, const uint limit)
{
    uint steps = 0;

    while (value > 1 && steps < limit) {
        if (value & 1) {
            value = 3 * value + 1;
        } else {
            value /= 2;
        }
        ++steps;
    }
    return steps;
}

static uint longer(const uint known, const uint value, const uint limit)
{
    const uint steps = collatz(value, limit);
    return steps > known ? steps : known;
}

__kernel void helper_thrice(__global const uint *values, __global uint *longest, __global uint *sum, const uint limit)
{
    const uint i = get_global_id(0);
    uint best = collatz(values[i], limit);
    uint total = best;

    best = longer(best, values[i] + 1, limit);
    if (best == limit) {
        total += collatz(values[i] / 4, limit);
    }
    longest[i] = best;
    sum[i] = total;
}
