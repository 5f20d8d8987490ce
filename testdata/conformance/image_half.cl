// conformance: out=1024 global=8x4 local=8x4 values=half picture=8x4 copy=8x4 formats=float ulps=2
// read_imageh and write_imageh.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture, __write_only image2d_t copy)
{
    int x = get_global_id(0), y = get_global_id(1), at = 8 * y + x;
    half4 v = read_imageh(picture, (int2)(x, y));
    vstore4(v, at, (__global half*)out);
    write_imageh(copy, (int2)(x, y), (half4)(x & 1, y & 1, 1.0h, 0.0h));
}
