// conformance: out=4096 global=256 local=64 values=half
// half as a number: arithmetic, comparison, vectors, conversion; values whose results are exact.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    half x = convert_half((in + 256)[g]), y = (half)(g & 15) * 0.5h;
    half4 v = (half4)(x, y, 1.0h, -2.0h);
    half z = x > y ? x - y : y * 2.0h;
    v.xy += v.zw;
    v = v < (half4)(0.0h) ? -v : v;
    half8 r = (half8)(z, v, fabs(-x), floor(y), max(x, y));
    vstore8(r, g, (__global half*)out);
}
