// conformance: out=2048 global=8x4 local=8x4 values=float ulps=4 lines=8x4 copy=8x4 formats=float
// Layers of one dimension: read by integers and by floats, written; their number.
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image1d_array_t lines, __write_only image1d_array_t copy)
{
    int x = get_global_id(0), y = get_global_id(1), at = 8 * y + x;
    __global float* to = (__global float*)out + 16 * at;
    float4 v = read_imagef(lines, (int2)(x, y));
    vstore4(v, 0, to);
    vstore4(read_imagef(lines, nearest, (int2)(x + 2, 3 - y)), 1, to);
    vstore4(read_imagef(lines, nearest, (float2)(x - 1.5f, y + 1.25f)), 2, to);
    to[12] = get_image_width(lines) * 100 + get_image_array_size(lines);
    write_imagef(copy, (int2)(7 - x, y), v);
}
