// conformance: out=1024 global=256 local=64
// Numbers, pointers and floats as conditions: 0.5f is true, 256 is true although its low byte is 0.
bool truth(int number) { return number; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = ((__global const int*)(in + 1536))[g] & 0xFFFFFF00;
    float f = (float)(g & 3) * 0.25f;
    __global const int* p = g & 1 ? (__global const int*)in : 0;
    bool a = x, b = f, c = p, d = 256 * (int)(g & 1), e = truth(x);
    uchar low = (uchar)x;
    bool h = low;
    int r = a | b << 1 | c << 2 | d << 3 | e << 4 | h << 5;
    if (x) r |= 64;
    if (f) r |= 128;
    if (!p) r |= 256;
    r += x && f ? 512 : 0;
    ((__global int*)out)[g] = r;
}
