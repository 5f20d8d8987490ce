/* Wide vectors: statistics of blocks of sixteen numbers, and a byte shuffle.
 *
 * Fixture for: float16, int8 and uchar16, swizzles by halves, select and the vector ?: (which is data, no decision), any
 * and all in decisions, shuffle, convert_, vload16.
 */

__kernel void long_vectors(__global const float16 *numbers, __global const uchar16 *order, __global const uchar *bytes,
                           float16 limits, __global float *sums, __global int8 *signs, __global uchar16 *shuffled,
                           __global int *flags)
{
    size_t gid = get_global_id(0);
    float16 x = numbers[gid];

    int16 too_large = x > limits;
    x = select(x, limits, too_large);
    int flag = 0;
    if (any(too_large))
        flag |= 1;
    if (all(x >= (float16)(0.0f)))
        flag |= 2;
    if (any(isnan(x)) || all(isequal(x.lo, x.hi)))
        flag |= 4;

    float8 eight = x.lo + x.hi;
    float4 four = eight.even + eight.odd;
    float2 two = four.lo + four.hi;
    sums[gid] = two.x + two.y;

    float8 low = x.lo;
    signs[gid] = low < 0.0f ? (int8)(-1) : (low > 0.0f ? (int8)(1) : (int8)(0));

    uchar16 data = vload16(gid, bytes);
    uchar16 mixed = shuffle(data, order[gid]);
    if (flag & 1)
        mixed = mixed.sfedcba9876543210;
    shuffled[gid] = mixed;
    flags[gid] = flag;
}
