// conformance: out=1024 global=256 local=64
// Nested conditional expressions, of mixed types, with calls, as conditions and as pointers.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = ((__global const short*)(in + 512))[g];
    uint u = x > 0 ? x : -1;
    long l = x & 1 ? u : (long)x;
    float f = x < -100 ? -1 : x > 100 ? 1.5f : (char)x;
    char c = x & 2 ? (char)200 : 'a';
    __global const uchar* p = x & 4 ? in + 256 : x & 8 ? in + 300 : in;
    int r = (x > 5 ? x < 10 ? 1 : 2 : x == 5 ? 3 : 4) + (c ?: 9) + p[g & 31];
    r += (x & 1 ? x > 0 : x < 0) ? (x ? 100 : 200) : 300;
    ((__global int*)out)[g] = r + (int)l * 3 + (int)(f * 4.0f);
}
