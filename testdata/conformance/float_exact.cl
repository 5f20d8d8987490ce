// conformance: out=8192 global=256 local=64 values=float
// Operations of float that are exact or correctly rounded: addition, multiplication, fma, rounding, remainders, parts.
#pragma OPENCL FP_CONTRACT OFF

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    float x = ((__global const short*)(in + 512))[g] * 0.375f, y = ((__global const short*)(in + 512))[255 - g] * 1.1875f;
    int e;
    float whole, m = frexp(x, &e), f = fract(x, &whole), part;
    float r = modf(y, &part);
    __global float* to = (__global float*)out + 8 * g;
    to[0] = x * y + x - y;
    to[1] = fma(x, y, -x * y);
    to[2] = floor(x) + ceil(y) * 2.0f;
    to[3] = rint(x) + trunc(y) + round(x);
    to[4] = m + (float)e;
    to[5] = f + whole;
    to[6] = r * 4.0f + part;
    to[7] = ldexp(x, (int)(g & 7) - 4) + fmin(x, y) + fmax(x, y) + clamp(x, -5.0f, 5.0f) + fmod(x, 8.0f) + sign(y);
}
