// Small number puzzles, one a work-item, each by a loop of another shape; their answers are added up in `out`.
//
// Fixture: for, while, do-while, for (;;) with break, while (1) with return, continue, break out of the inner of two
// loops, a loop that data can make run zero times, a loop whose body always leaves.

// Digits of a number: do-while.
static int digits(uint value)
{
    int count = 0;

    do {
        value /= 10;
        ++count;
    } while (value != 0);
    return count;
}

// Smallest divisor above 1: while (1), left by return.
static uint divisor(const uint value)
{
    uint d = 2;

    while (1) {
        if (d * d > value)
            return value;
        if (value % d == 0)
            return d;
        ++d;
    }
}

// Smallest power of two that is not below the value: for (;;), left by break.
static uint power(const uint value)
{
    uint p = 1;

    for (;;) {
        if (p >= value)
            break;
        p *= 2;
    }
    return p;
}

// First element that is not negative: the body leaves in its first turn or goes on by continue.
static int first_known(__global const int *list, const int length)
{
    for (int i = 0; i < length; ++i) {
        if (list[i] < 0)
            continue;
        return list[i];
    }
    return -1;
}

// Pairs (i, j) with i * j <= value, i up to `rows`; the inner loop is left by break.
static int pairs(const uint value, const uint rows)
{
    int count = 0;

    for (uint i = 1; i <= rows; ++i) {
        for (uint j = 1; j <= 10; ++j) {
            if (i * j > value)
                break;
            ++count;
        }
    }
    return count;
}

__kernel void loop_shapes(__global const uint *values, __global const int *list, const int length, const uint rows,
                          __global int *out)
{
    const int gid = get_global_id(0);
    uint value = values[gid];
    int bits = 0;

    out[gid] = digits(value) * 1000000 + (int)divisor(value) * 10000 + (int)power(value) * 100;
    out[gid] += pairs(value, rows) + first_known(list, length);
    while (value) {
        bits += value & 1;
        value >>= 1;
    }
    out[gid] -= bits;
}
