// conformance: out=4096 global=256 local=64
// Components of vectors by an index that is not known before.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int8 v = vload8(g & 31, (__global const int*)(in + 1536));
    int k = g & 7;
    int r = v[k];
    v[7 - k] = (int)g;
    ((int*)&v)[k ^ 3] ^= 0x55;
    uchar16 b = vload16(g & 15, in + 256);
    b[(g * 5) & 15] = b[(g * 3) & 15] + 1;
    __global int* to = (__global int*)out;
    to[g] = r;
    to[256 + g] = v.s0 ^ v.s1 * 3 ^ v.s2 * 5 ^ v.s5 * 7 ^ v.s7;
    to[512 + g] = v[(k + 1) & 7];
    to[768 + g] = b.s0 | b.s5 << 8 | b.sa << 16 | (b.sf & 127) << 24;
}
