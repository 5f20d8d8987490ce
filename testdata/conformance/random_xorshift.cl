// conformance: out=4096 global=256 local=64 values=uint
// Random numbers of 64-bit state: xorshift, a linear congruence, and numbers below a bound by the high half of a product.
uint below(ulong* state, uint bound)
{
    ulong x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return (uint)((x >> 32) * bound >> 32);
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    ulong state = ((__global const ulong*)(in + 5632))[g] | 1, lcg = g;
    uint4 r = 0;
    for (int i = 0; i < 20; i++) {
        lcg = lcg * 6364136223846793005UL + 1442695040888963407UL;
        r[i & 3] += below(&state, 1000) ^ (uint)(lcg >> 40);
    }
    vstore4(r, g, (__global uint*)out);
}
