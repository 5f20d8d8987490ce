// conformance: out=2048 global=256 local=64 values=uint
// What atomics return, each work-item on its own cell; exchange and compare-exchange.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local uint cells[64];
    __local float reals[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    uint x = ((__global const uint*)(in + 2560))[g];
    cells[l] = x;
    reals[l] = (float)(x & 255);
    uint a = atomic_xchg(&cells[l], 5u), b = atomic_cmpxchg(&cells[l], 5u, x + 1), c = atomic_cmpxchg(&cells[l], 5u, 9u);
    uint d = atomic_max(&cells[l], 100u), e = atomic_min(&cells[l], 0x70000000u), f = atomic_inc(&cells[l]), h = atomic_dec(&cells[l]);
    float i = atomic_xchg(&reals[l], 2.5f);
    ((__global uint*)out)[g] = a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13 + h * 17;
    ((__global uint*)out)[256 + g] = cells[l] + as_uint(i) + as_uint(reals[l]);
}
