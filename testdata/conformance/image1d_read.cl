// conformance: out=1024 global=16 local=16 values=float ulps=4 line=16 formats=float
// One dimension: integer and float coordinates, width.
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image1d_t line)
{
    int x = get_global_id(0);
    __global float* to = (__global float*)out + 16 * x;
    vstore4(read_imagef(line, x), 0, to);
    vstore4(read_imagef(line, nearest, x - 3), 1, to);
    vstore4(read_imagef(line, nearest, x + 2.5f), 2, to);
    to[12] = get_image_width(line);
    to[13] = get_image_channel_order(line);
}
