// conformance: out=2048 global=8x4 local=8x4 values=float ulps=4 picture=8x4 smp=NEAREST:REPEAT:normalized formats=float
// Normalised coordinates that repeat, mirror, and are clamped; sizes are powers of two, so that they are exact.
constant sampler_t mirrored = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_NEAREST;
constant sampler_t clamped = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture, sampler_t smp)
{
    int x = get_global_id(0), y = get_global_id(1), at = 8 * y + x;
    float2 centre = (float2)((x + 0.5f) / 8.0f, (y + 0.5f) / 4.0f);
    __global float* to = (__global float*)out + 16 * at;
    vstore4(read_imagef(picture, smp, centre * 2.0f + (float2)(0.03125f, -1.0625f)), 0, to);
    vstore4(read_imagef(picture, mirrored, centre * 2.0f + (float2)(-1.03125f, 1.0625f)), 1, to);
    vstore4(read_imagef(picture, clamped, centre), 2, to);
}
