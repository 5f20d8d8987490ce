// conformance: out=1024 global=256 local=64
// Pointers to pointers in private memory, exchanged.
void swap(__global const uint** a, __global const uint** b)
{
    __global const uint* c = *a;
    *a = *b;
    *b = c;
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const uint* x = (__global const uint*)(in + 2560);
    __global const uint* y = (__global const uint*)(in + 1536);
    for (uint i = 0; i < (g & 3); i++)
        swap(&x, &y);
    ((__global uint*)out)[g] = x[g] - y[g] / 2;
}
