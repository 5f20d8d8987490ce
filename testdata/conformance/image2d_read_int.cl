// conformance: out=2048 global=8x4 local=8x4 picture=8x4 formats=int
// Reads of signed integers.
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture)
{
    int x = get_global_id(0), y = get_global_id(1), at = 8 * y + x;
    __global int* to = (__global int*)out + 16 * at;
    vstore4(read_imagei(picture, (int2)(x, y)), 0, to);
    vstore4(read_imagei(picture, nearest, (int2)(x + 3, y)), 1, to);
    vstore4(read_imagei(picture, nearest, (float2)(x + 0.5f, y + 1.5f)), 2, to);
}
