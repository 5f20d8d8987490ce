/* Random numbers by linear congruential generators of every integer width.
 *
 * The state advances by jumps, so that work-item i starts `i * stride` steps on; numbers are reduced to a range in one of
 * several ways. Fixture for: scalar arguments of every integer type and size, integer promotion and truncation, 64-bit
 * arithmetic, mul_hi, signed and unsigned shifts, a while over bits.
 */

ulong jump(ulong state, ulong factor, ulong increment, ulong steps)
{
    ulong total_factor = 1;
    ulong total_increment = 0;
    while (steps > 0) {
        if (steps & 1) {
            total_factor *= factor;
            total_increment = total_increment * factor + increment;
        }
        increment *= factor + 1;
        factor *= factor;
        steps >>= 1;
    }
    return total_factor * state + total_increment;
}

__kernel void rng_lcg_long(ulong seed, long increment, uint factor32, int shift, ushort stride, short floor_value,
                           uchar method, char bias, __global ulong *states, __global int *numbers)
{
    size_t gid = get_global_id(0);
    ulong factor = ((ulong)factor32 << 32) | 0x4c957f2du;
    ulong state = jump(seed, factor, (ulong)increment, (ulong)stride * gid);
    states[gid] = state;

    uint high = (uint)(state >> shift);
    int number;
    if (method == 0) {
        number = (int)(high % 1000u);
    } else if (method == 1) {
        number = (int)mul_hi(high, 1000u);
    } else {
        short narrow = (short)high;
        number = narrow >> 4;
    }

    number += bias;
    if (number < floor_value)
        number = floor_value;
    numbers[gid] = number;
}
