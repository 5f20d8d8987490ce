// conformance: out=64 global=1 local=1 picture=8x4 formats=float
// Sizes, channel type and order, and comparisons with OpenCL's constants.
__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture)
{
    __global int* to = (__global int*)out;
    to[0] = get_image_width(picture);
    to[1] = get_image_height(picture);
    to[2] = get_image_dim(picture).x * 100 + get_image_dim(picture).y;
    to[3] = get_image_channel_data_type(picture);
    to[4] = get_image_channel_order(picture);
    to[5] = get_image_channel_data_type(picture) == CLK_FLOAT;
    to[6] = get_image_channel_order(picture) == CLK_RGBA;
    to[7] = get_image_channel_data_type(picture) == CLK_UNORM_INT8;
}
