// conformance: out=2048 global=256 local=64
// Macros that make the names of types and conversions, as libraries of neural networks use them, for the type itself, too.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define CONVERT(type, x) JOIN(convert_, type)(x)
#define DATA float
#define DATA4 JOIN(DATA, 4)
#define INDEX int

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    DATA x = CONVERT(DATA, (in + 256)[g]);
    DATA y = CONVERT(DATA, x) + 0.5f;
    DATA4 v = CONVERT(DATA4, vload4(g & 63, in + 256));
    v = CONVERT(DATA4, v) + x;
    INDEX i = CONVERT(INDEX, g) + CONVERT(INDEX, (INDEX)5);
    ((__global int*)out)[g] = as_int(y + v.x + v.w);
    ((__global int*)out)[256 + g] = i + any((int)x - 5) * 1000 + all((int)-1 - (int)x) * 10000 + isequal(x, 7.0f) * 100000;
}
