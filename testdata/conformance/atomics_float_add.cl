// conformance: out=1024 global=256 local=64 values=uint
// A float added by compare-exchange in a loop: whole numbers, whose sum is exact in every order.
void add(volatile __local float* to, float x)
{
    uint old = *(volatile __local uint*)to, seen;
    do {
        seen = old;
        old = atomic_cmpxchg((volatile __local uint*)to, seen, as_uint(as_float(seen) + x));
    } while (old != seen);
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local float sum;
    size_t g = get_global_id(0), l = get_local_id(0);
    if (l == 0) sum = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    add(&sum, (float)(in + 256)[g]);
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global uint*)out)[g] = as_uint(sum);
}
