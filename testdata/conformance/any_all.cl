// conformance: out=2048 global=256 local=64
// any and all test sign bits, of vectors and of scalars.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int4 x = vload4(g & 63, (__global const int*)(in + 1536));
    char8 c = vload8(g & 31, (__global const char*)in);
    long2 l = vload2(g & 127, (__global const long*)(in + 3584));
    int r = any(x) | all(x) << 1 | any(c) << 2 | all(c.lo) << 3 | any(l) << 4 | all(l) << 5;
    r |= any(x.x) << 6 | all(x.y) << 7 | any(c.s0) << 8 | all(l.x) << 9 | any(x > 0) << 10 | all(x > 0) << 11;
    ((__global int*)out)[g] = r;
    ((__global int*)out)[256 + g] = any(x & 0x7FFFFFFF) * 3 + all((short3)(x.x, x.y, -1)) + any((int3)(1, 2, 3));
}
