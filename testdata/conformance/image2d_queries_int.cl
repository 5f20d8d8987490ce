// conformance: out=32 global=1 local=1 picture=3x5 formats=int
// Channel type and order of signed formats.
__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture)
{
    __global int* to = (__global int*)out;
    to[0] = get_image_channel_data_type(picture);
    to[1] = get_image_channel_order(picture);
    switch (get_image_channel_data_type(picture)) {
    case CLK_SIGNED_INT8: to[2] = 8; break;
    case CLK_SIGNED_INT16: to[2] = 16; break;
    case CLK_SIGNED_INT32: to[2] = 32; break;
    default: to[2] = -1;
    }
}
