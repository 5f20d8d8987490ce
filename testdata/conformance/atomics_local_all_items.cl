// conformance: out=4096 global=256 local=64 values=uint
// Atomics of OpenCL 1.2 by all work-items on local memory, whose end does not depend on the order.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local uint sum, low, high, both, any, odd, count, left;
    __local int least, most;
    __local uint bins[16];
    size_t g = get_global_id(0), l = get_local_id(0);
    uint x = ((__global const uint*)(in + 2560))[g];
    if (l == 0) {
        sum = 0; low = 0xFFFFFFFF; high = 0; both = 0xFFFFFFFF; any = 0; odd = 0; count = 0; left = 1000;
        least = 0x7FFFFFFF; most = -0x7FFFFFFF;
    }
    if (l < 16) bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, x);
    atomic_sub(&sum, x >> 1);
    atomic_min(&low, x);
    atomic_max(&high, x);
    atomic_min(&least, (int)x);
    atomic_max(&most, (int)x);
    atomic_and(&both, x | 0xFFFF);
    atomic_or(&any, x & 0xF0F0);
    atomic_xor(&odd, x);
    atomic_inc(&count);
    atomic_dec(&left);
    atomic_inc(&bins[x & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to = (__global uint*)out + 256 * get_group_id(0);
    if (l == 0) {
        uint16 all = (uint16)(sum, low, high, both, any, odd, count, left, least, most, 0, 0, 0, 0, 0, 0);
        vstore16(all, 0, to);
    }
    if (l < 16) to[16 + l] = bins[l];
    to[64 + l] = sum ^ bins[l & 15];
}
