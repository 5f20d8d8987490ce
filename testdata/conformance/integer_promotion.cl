// conformance: out=4096 global=256 local=64
// char, short and their unsigned forms in arithmetic and comparisons become int; mixed signs become unsigned.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    char c = ((__global const char*)in)[g];
    uchar u = (in + 256)[g];
    short s = ((__global const short*)(in + 512))[g];
    ushort t = ((__global const ushort*)(in + 1024))[g];
    int i = ((__global const int*)(in + 1536))[g];
    uint n = ((__global const uint*)(in + 2560))[g];
    __global int* to = (__global int*)out;
    to[g] = (c * u + s) ^ (t - u);
    to[256 + g] = (c < u) | (s < t) << 1 | ((uint)c < n) << 2 | (i < n) << 3 | (-1 < u) << 4 | ((uchar)~u == 255 - u) << 5;
    to[512 + g] = (~u >> 1) + ((u << 8) >> 4) + (-u) % 7 + ((c / 3) * 3 + c % 3);
    c += 100;
    u -= 200;
    s = s << 2;
    t *= 3u;
    to[768 + g] = c + u + s + t;
}
