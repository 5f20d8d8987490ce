// conformance: out=8192 global=8x4x3 local=8x4x1 values=float ulps=4 layers=8x4x3 copy=8x4x3 formats=float
// Layers of two dimensions.
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_array_t layers, __write_only image2d_array_t copy)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), at = 32 * z + 8 * y + x;
    __global float* to = (__global float*)out + 16 * at;
    float4 v = read_imagef(layers, (int4)(x, y, z, 0));
    vstore4(v, 0, to);
    vstore4(read_imagef(layers, nearest, (int4)(x + 2, y - 1, 2 - z, 0)), 1, to);
    vstore4(read_imagef(layers, nearest, (float4)(x + 0.5f, y + 0.5f, z + 0.75f, 0.0f)), 2, to);
    to[12] = get_image_width(layers) * 100 + get_image_height(layers) * 10 + get_image_array_size(layers);
    to[13] = get_image_dim(layers).y;
    write_imagef(copy, (int4)(x, 3 - y, z, 0), v);
}
