// One statement of every kind that edits can touch. All buffers hold 64 elements, and every index is masked at its use, so
// that no change of a value leads out of them.

#define AT(i) ((i) & 63)

static int helper(const int x, const int y)
{
    int r = x - y;

    if (x > y && y != 0)
        r += 3;
    return r;
}

static int outer(const int x)
{
    return helper(x, 7) * 2;
}

__kernel void values(__global const int *a, __global const uint *b, __global const float *f, __global const int4 *v,
                     __global int *out, __global float *fout, __global int4 *vout, __global long *lout,
                     __global int *sums)
{
    __local int shared[64];
    const int x = a[AT(get_global_id(0))];
    const uint u = b[AT(get_global_id(0))];
    const float g = f[AT(get_global_id(0))];
    int r = x * 3 + 1;
    long wide = (long)x << 3;

    shared[get_local_id(0) & 15] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    r ^= shared[(get_local_id(0) + 1) & 15];

    for (int j = 0; j < 5; ++j) {
        if (j == 3)
            continue;
        r += j * x;
    }
    if ((x > 4 || u < 9u) && r != 2)
        r = outer(r);
    else
        r -= helper(x, r);

    switch (x & 3) {
    case 0:
        r += 10;
        break;
    case 1:
    case 2:
        r = r / ((x | 1) & 15);
        break;
    default:
        r = -r;
    }

    const int both = x > 2 && u > 3u;
    const float h = g > 0.5f ? g * 1.5f : 1.0f - g;

    wide = wide * u - (wide >> (u & 7u));
    r += max(x, (int)u) + both;
    out[AT(get_global_id(0))] = r;
    out[AT(get_global_id(0))] += (int)(u / 3u) % 11;
    fout[AT(get_global_id(0))] = h + (g - 2.0f) / 4.0f + (float)r;
    vout[AT(get_global_id(0))] = v[AT(get_global_id(0))] * 2 + (v[AT(get_global_id(0))] > (int4)(3));
    lout[AT(get_global_id(0))] = wide;
    atomic_add(&sums[AT(x)], r & 7);
}
