// conformance: out=1024 global=256 local=64
// A loop with two entries.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint x = ((__global const uint*)(in + 2560))[g], r = 0;
    int steps = 0;
    if (x & 1) goto second;
first:
    r += x & 255;
    x >>= 1;
second:
    r ^= x * 7;
    if (++steps < 20 && x > 3) {
        if (x & 2) goto first;
        x -= 3;
        goto second;
    }
    ((__global uint*)out)[g] = r + steps;
}
