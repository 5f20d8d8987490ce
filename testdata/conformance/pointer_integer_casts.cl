// conformance: out=1024 global=256 local=64
// Pointers as numbers: alignment, offsets, and back.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    size_t address = (size_t)(in + 256 + g);
    __global const uchar* down = (__global const uchar*)(address & ~(size_t)3);
    uintptr_t base = (uintptr_t)in;
    ((__global int*)out)[g] = *down + (int)(address - base) * 256 + (int)(address & 3);
}
