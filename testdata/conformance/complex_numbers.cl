// conformance: out=4096 global=256 local=64 values=float
// Complex numbers as float2 and structs; whole numbers, whose products are exact.
typedef struct { float re, im; } Complex;
Complex times(Complex a, Complex b) { return (Complex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re }; }
float2 times2(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const char* from = (__global const char*)in;
    Complex z = { from[g], from[255 - g] }, w = times(z, (Complex){ 2.0f, -1.0f });
    float2 v = times2((float2)(z.re, z.im), (float2)(w.im, w.re));
    vstore4((float4)(w.re, w.im, v), g, (__global float*)out);
}
