// conformance: out=1024 global=256 local=64
// Constants declared in a kernel and the address of one of several.
constant int small[4] = { 1, 2, 3, 4 };
constant int large[4] = { 100, 200, 300, 400 };

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    constant int own[2] = { -1, -2 };
    constant char* words[2] = { 0, 0 };
    size_t g = get_global_id(0);
    constant int* p = g & 1 ? small : large;
    constant int* q = g & 2 ? p : own;
    ((__global int*)out)[g] = p[g >> 2 & 3] * 10 + q[g >> 4 & 1] + (words[g & 1] == 0);
}
