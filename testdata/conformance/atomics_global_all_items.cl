// conformance: out=1024 global=256 local=64 values=uint
// Atomics of OpenCL 1.2 by all work-items on global memory.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global volatile uint* to = (__global volatile uint*)out;
    __global volatile int* numbers = (__global volatile int*)out + 64;
    size_t g = get_global_id(0);
    uint x = ((__global const uint*)(in + 2560))[g];
    atomic_add(&to[0], x);
    atomic_sub(&to[1], x);
    atomic_max(&to[2], x);
    atomic_min(&numbers[0], (int)x);
    atomic_max(&numbers[1], (int)x);
    atomic_or(&to[3], 1u << (x & 31));
    atomic_xor(&to[4], x);
    atomic_inc(&to[5]);
    atomic_dec(&to[6]);
    atomic_add(&to[16 + (x & 15)], x >> 4);
    atomic_cmpxchg(&to[7], 0, 77);
    if (g == 9) atomic_xchg((volatile __global float*)&to[8], 1.5f);
    atom_add(&to[9], 2u);
    atom_inc(&numbers[2]);
}
