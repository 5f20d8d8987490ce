// conformance: out=16 global=8x4 local=8x4 copy=8x4 formats=float
// Writes of numbers beyond the format's range; only some texels.
__kernel void calls(__global uchar* out, __global const uchar* in, __write_only image2d_t copy)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x != y)
        write_imagef(copy, (int2)(x, y), (float4)(x * 0.5f - 1.5f, y - 2.0f, x & 1, 7.0f - x));
}
