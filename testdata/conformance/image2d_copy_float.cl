// conformance: out=16 global=8x4 local=8x4 picture=8x4 copy=8x4 formats=float
// An image copied, turned about, to another one of the same format.
__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture, __write_only image2d_t copy)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(copy, (int2)(7 - x, y), read_imagef(picture, (int2)(x, y)));
}
