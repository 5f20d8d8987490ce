// conformance: out=1024 global=256 local=64 values=ulong
// Atomics of 64 bits in global and local memory.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local ulong sum;
    __local long least;
    __global ulong* to = (__global ulong*)out;
    size_t g = get_global_id(0), l = get_local_id(0);
    ulong x = ((__global const ulong*)(in + 5632))[g];
    if (l == 0) { sum = 0; least = 0x7FFFFFFFFFFFFFFFL; }
    barrier(CLK_LOCAL_MEM_FENCE);
    atom_add(&sum, x);
    atom_min(&least, (long)x);
    atom_add(&to[0], x);
    atom_max(&to[1], x);
    atom_xor(&to[2], x);
    atom_inc(&to[3]);
    ulong old = atom_xchg(&to[64 + (g & 31)], 7UL);
    atom_cmpxchg(&to[4], 0UL, 11UL);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        to[16 + 2 * get_group_id(0)] = sum;
        to[17 + 2 * get_group_id(0)] = (ulong)least + (old > 7);
    }
}
