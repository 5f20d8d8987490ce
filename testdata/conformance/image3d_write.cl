// conformance: out=16 global=8x4x3 local=8x4x1 copy=8x4x3 formats=float
// Writes to three dimensions.
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

__kernel void calls(__global uchar* out, __global const uchar* in, __write_only image3d_t copy)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    write_imagef(copy, (int4)(x, y, 2 - z, 0), (float4)(x / 8.0f > 0.5f, y & 1, z == 1, 1.0f));
}
