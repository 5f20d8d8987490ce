// conformance: out=2048 global=256 local=64
// Differences, comparisons, negative indices, casts between element types, pointers to arrays.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const ushort* p = (__global const ushort*)(in + 1024) + g;
    __global const uchar* q = (__global const uchar*)p + 1;
    __global const int (*rows)[8] = (__global const int(*)[8])(in + 1536);
    int r = p[-(int)(g & 7)] + q[-1] + (int)((__global const uchar*)(p + 2) - q);
    r += (p < (__global const ushort*)(in + 1280)) * 7 + 1[p - 1];
    long distance = (__global const uchar*)rows[g & 31] - in;
    ((__global int*)out)[g] = r;
    ((__global int*)out)[256 + g] = rows[g & 31][g >> 5] ^ (int)distance ^ (int)(&rows[3] - &rows[1]);
}
