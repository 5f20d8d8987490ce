// conformance: out=2048 global=8x4 local=8x4 values=uint picture=8x4 formats=uint
// Reads of unsigned integers, with a border outside.
constant sampler_t bordered = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture)
{
    int x = get_global_id(0), y = get_global_id(1), at = 8 * y + x;
    __global uint* to = (__global uint*)out + 16 * at;
    vstore4(read_imageui(picture, (int2)(x, y)), 0, to);
    vstore4(read_imageui(picture, bordered, (int2)(x - 2, y)), 1, to);
    vstore4(read_imageui(picture, bordered, (float2)(x + 4.5f, y + 2.5f)), 2, to);
}
