// conformance: out=4096 global=8x4 local=8x4 values=float ulps=4 picture=8x4 formats=float
// Reads of floats without a sampler, with one in the program (integer and float coordinates), and outside of the image.
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture)
{
    int x = get_global_id(0), y = get_global_id(1), at = 8 * y + x;
    __global float* to = (__global float*)out + 32 * at;
    vstore4(read_imagef(picture, (int2)(x, y)), 0, to);
    vstore4(read_imagef(picture, nearest, (int2)(x, y)), 1, to);
    vstore4(read_imagef(picture, nearest, (float2)(x + 0.25f, y + 0.75f)), 2, to);
    vstore4(read_imagef(picture, nearest, (int2)(x - 4, y + 2)), 3, to);
    vstore4(read_imagef(picture, nearest, (float2)(x + 3.5f, y - 2.5f)), 4, to);
}
