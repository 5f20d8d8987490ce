// conformance: out=4096 global=256 local=64
// Division and remainder truncate towards zero, also of 64 bits and of narrow types.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = ((__global const int*)(in + 1536))[g], y = ((__global const short*)(in + 512))[g];
    long l = ((__global const long*)(in + 3584))[g];
    char c = ((__global const char*)in)[g];
    y = y == 0 || y == -1 ? 3 : y;
    __global int* to = (__global int*)out;
    to[g] = x / y + x % y * 3;
    to[256 + g] = (int)(l / y ^ l % y);
    to[512 + g] = c / (char)((y & 63) + 1) * 256 + c % (char)((y & 63) + 1);
    to[768 + g] = (int)((uint)x / 7u + (uint)x % 1000u) + x / 8 + x % 8 - x / -16;
}
