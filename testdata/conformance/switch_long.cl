// conformance: out=1024 global=256 local=64
// switch on 64 bits, whose cases differ in the high half alone.
int chosen(long x)
{
    switch (x) {
    case 0: return 1;
    case 0x100000000L: return 2;
    case -1L: return 3;
    case 0xFFFFFFFFL: return 4;
    case 0x7FFFFFFFFFFFFFFFL: return 5;
    case -0x7FFFFFFFFFFFFFFFL - 1: return 6;
    case 0x200000001L: return 7;
    case 1: return 8;
    }
    return 9;
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    long x = ((__global const long*)(in + 3584))[g];
    long low = g & 3, high = g >> 2 & 3;
    ((__global int*)out)[g] = chosen(x) * 100 + chosen(high << 32 | low) * 10 + chosen((long)(int)x);
}
