// conformance: out=4096 global=256 local=64 values=double
// double: literals, conversions, comparison, vectors, exact arithmetic.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int i = ((__global const int*)(in + 1536))[g];
    long l = ((__global const long*)(in + 3584))[g];
    double d = i * 0.5 + 1e3;
    double2 v = (double2)(d, convert_double(l >> 12)).yx;
    double e = d > 1000.0 ? floor(d) : ceil(d * 0.25);
    __global double* to = (__global double*)out;
    to[g] = e + (float)(i & 1023) * 0.125f + convert_int_rte(d / 4096.0);
    to[256 + g] = v.x + convert_long_rtz(v.y) % 1000 + (double)(uint)i;
}
