// conformance: out=8192 global=8x4x3 local=8x4x1 values=float ulps=4 volume=8x4x3 smp=LINEAR:CLAMP_TO_EDGE formats=float
// Three dimensions: integer coordinates, linear filters at centres, sizes.
constant sampler_t bordered = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image3d_t volume, sampler_t smp)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), at = 32 * z + 8 * y + x;
    __global float* to = (__global float*)out + 16 * at;
    vstore4(read_imagef(volume, (int4)(x, y, z, 0)), 0, to);
    vstore4(read_imagef(volume, smp, (float4)(x + 0.5f, y + 0.5f, z + 0.5f, 0.0f)), 1, to);
    vstore4(read_imagef(volume, bordered, (int4)(x + 1, y - 1, z + 1, 0)), 2, to);
    to[12] = get_image_width(volume) * 100 + get_image_height(volume) * 10 + get_image_depth(volume);
    int4 size = get_image_dim(volume);
    to[13] = size.x * 100 + size.y * 10 + size.z;
}
