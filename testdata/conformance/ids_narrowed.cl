// conformance: out=8192 global=256 local=64 values=long reference=simulator
// Numbers of work-items, shifted, narrowed to int and widened again. Intel's runtime of 2026.2 drops the shift.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global long* to = (__global long*)out;
    size_t l = get_local_id(0), g = get_global_id(0);
    int a = l >> 3, b = l / 8 + 1, c = g / 16, d = l & 7, e = 63 - l;
    to[g] = a;
    to[256 + g] = (long)b * 36;
    to[512 + g] = (long)c - 5;
    to[768 + g] = (long)d * 3 + (long)e * 1000;
}
