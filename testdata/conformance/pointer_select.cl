// conformance: out=1024 global=256 local=64
// A pointer to one of several variables, of arrays of different sizes.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int a[2] = { 1, 2 }, b[4] = { 3, 4, 5, 6 }, c = 7;
    int* p = g % 3 == 0 ? a : g % 3 == 1 ? b : &c;
    *p += (int)g;
    int* q = p == &c ? &a[1] : p + 1;
    *q *= 3;
    int r = a[0] + a[1] * 3 + b[0] * 5 + b[1] * 7 + c * 11;
    int* ends[2] = { &b[3], &a[0] };
    r += *ends[g & 1] + (int)(ends[0] - b);
    ((__global int*)out)[g] = r;
}
