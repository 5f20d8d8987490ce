/* Three kernels over vectors that share helpers: normalising to a range, thresholding, and summing blocks.
 *
 * Fixture for: several entries in one file (sites of one kernel and its helpers only), a helper that all share, one that two
 * share, one that calls another. One suite a kernel: suite_<kernel>.toml.
 */

int in_range(size_t index, uint n)
{
    return index < n;
}

float limit(float x, float low, float high)
{
    if (x < low)
        return low;
    if (x > high)
        return high;
    return x;
}

float mapped(float x, float low, float high)
{
    float width = high - low;
    return width > 0.0f ? (limit(x, low, high) - low) / width : 0.0f;
}

__kernel void normalise(__global const float *in, __global float *out, uint n, float low, float high)
{
    size_t gid = get_global_id(0);
    if (in_range(gid, n))
        out[gid] = mapped(in[gid], low, high);
}

__kernel void threshold(__global const float *in, __global uchar *mask, uint n, float low, float high, float level)
{
    size_t gid = get_global_id(0);
    if (!in_range(gid, n))
        return;
    float x = in[gid];
    if (isfinite(x) && limit(x, low, high) >= level)
        mask[gid] = 255;
    else
        mask[gid] = 0;
}

__kernel void block_sum(__global const float *in, __global float *sums, uint n, uint block)
{
    size_t first = get_global_id(0) * block;
    float sum = 0.0f;
    for (uint i = 0; i < block; i++) {
        if (!in_range(first + i, n))
            break;
        sum += in[first + i];
    }
    sums[get_global_id(0)] = sum;
}
