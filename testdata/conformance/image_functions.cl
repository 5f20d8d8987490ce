// conformance: out=2048 global=8x4 local=8x4 values=float ulps=4 picture=8x4 other=8x4 smp=NEAREST:CLAMP_TO_EDGE formats=float
// Images and samplers passed to functions, one of two images chosen, a sampler in the kernel.
float4 sampled(__read_only image2d_t from, sampler_t by, int2 at) { return read_imagef(from, by, at); }

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture, __read_only image2d_t other, sampler_t smp)
{
    const sampler_t own = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    int x = get_global_id(0), y = get_global_id(1), at = 8 * y + x;
    __global float* to = (__global float*)out + 16 * at;
    vstore4(x & 1 ? sampled(picture, smp, (int2)(x, y)) : sampled(other, smp, (int2)(x, y)), 0, to);
    vstore4(sampled(picture, own, (int2)(x - 2, y)), 1, to);
    vstore4(sampled(other, own, (int2)(x, y - 1)), 2, to);
}
