/* Fast Fourier transforms of short blocks, radix 2, decimation in time.
 *
 * Each work-group transforms one block of 2 * (local size) complex numbers in local memory: bit-reversed load, then
 * butterflies with one barrier a stage. Fixture for: barriers in a loop, transcendental built-ins, float2 data, local
 * memory as an argument, a helper with a loop of its own.
 */

#define TWO_PI 6.28318530717958647692f

float2 multiply(float2 a, float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

uint reverse_bits(uint value, uint length)
{
    uint reversed = 0;
    for (uint bit = 1; bit < length; bit <<= 1) {
        reversed = (reversed << 1) | (value & 1);
        value >>= 1;
    }
    return reversed;
}

__kernel void fft_radix2(__global const float2 *in, __global float2 *out, int inverse, __local float2 *block)
{
    uint lid = get_local_id(0);
    uint half_length = get_local_size(0);
    uint length = 2 * half_length;
    uint first = get_group_id(0) * length;

    block[reverse_bits(lid, length)] = in[first + lid];
    block[reverse_bits(lid + half_length, length)] = in[first + lid + half_length];
    barrier(CLK_LOCAL_MEM_FENCE);

    float direction = inverse ? 1.0f : -1.0f;
    for (uint span = 1; span < length; span *= 2) {
        uint k = lid & (span - 1);
        uint low = 2 * lid - k;
        float angle = direction * TWO_PI * k / (2 * span);
        float2 twiddle = (float2)(cos(angle), sin(angle));
        float2 a = block[low];
        float2 b = multiply(twiddle, block[low + span]);
        block[low] = a + b;
        block[low + span] = a - b;
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    float scale = 1.0f;
    if (inverse)
        scale = 1.0f / length;
    out[first + lid] = block[lid] * scale;
    out[first + lid + half_length] = block[lid + half_length] * scale;
}
