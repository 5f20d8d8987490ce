// conformance: out=16 global=8x4 local=8x4 copy=8x4 formats=int
// Signed integers beyond the format's range are saturated.
__kernel void calls(__global uchar* out, __global const uchar* in, __write_only image2d_t copy)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagei(copy, (int2)(x, y), (int4)(x * 40 - 150, y * 30000 - 40000, -128, 32767 + x));
}
