// conformance: out=1024 global=256 local=64
// switch on char, uchar and short; the values are promoted.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    char c = ((__global const char*)in)[g];
    uchar u = (in + 256)[g];
    ushort s = ((__global const ushort*)(in + 1024))[g];
    int r = 0;
    switch (c) {
    case -1: r += 1; break;
    case -128: r += 2; break;
    case 127: r += 3; break;
    case 255: r += 1000; break;
    case 0: r += 4;
    case 1: r += 5; break;
    default: r += 6;
    }
    switch (u) {
    case 255: r += 10; break;
    case 128: r += 20; break;
    case 0: r += 30; break;
    }
    switch (s) {
    case 65535: r += 100; break;
    case 32768: r += 200; break;
    case 0 ... 100: r += 300; break;
    default: r += 400;
    }
    ((__global int*)out)[g] = r;
}
