// Haar wavelets ("dwtHaar1D"), cosine transform of 8 by 8 blocks and quantisation with rounding by sign ("dct8x8").

kernel void dwt_haar(global const float *in, global float *approximation, global float *detail, local float *block, int levels)
{
    int lid = get_local_id(0);
    int size = get_local_size(0);
    int base = 2 * size * get_group_id(0);

    block[lid] = in[base + lid];
    block[lid + size] = in[base + lid + size];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int level = 0; level < levels; level++) {
        float a = 0.0f;
        if (lid < size) {
            a = (block[2 * lid] + block[2 * lid + 1]) * 0.70710678f;
            detail[base + size + lid] = (block[2 * lid] - block[2 * lid + 1]) * 0.70710678f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < size)
            block[lid] = a;
        barrier(CLK_LOCAL_MEM_FENCE);
        size /= 2;
    }
    if (lid == 0)
        approximation[get_group_id(0)] = block[0];
}

kernel void dct_block(global const float *in, global float *out, constant float *cosines, int stride)
{
    local float block[8][8];
    int x = get_local_id(0);
    int y = get_local_id(1);
    int at = (get_group_id(1) * 8 + y) * stride + get_group_id(0) * 8 + x;

    block[y][x] = in[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < 8; k++)
        sum += block[y][k] * cosines[x * 8 + k];
    out[at] = sum;
}

kernel void quantise(global short *coefficients, constant short *table, int stride)
{
    int at = get_global_id(1) * stride + get_global_id(0);
    short c = coefficients[at];
    short q = table[get_local_id(1) * 8 + get_local_id(0)];

    if (c < 0)
        coefficients[at] = -((q / 2 - c) / q) * q;
    else
        coefficients[at] = ((c + q / 2) / q) * q;
}
