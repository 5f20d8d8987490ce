// conformance: out=1024 global=256 local=64
// switch on two bits, as optimisers narrow them.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint x = ((__global const uint*)(in + 2560))[g];
    uint r = 0;
    switch (x & 3) {
    case 0: r = x / 4; break;
    case 1: r = x * 3; break;
    case 2: r = ~x; break;
    case 3: r = x ^ 99; break;
    }
    switch (x >> 30) {
    case 3: r += 3; break;
    case 2: r += 1;
    case 1: r *= 5; break;
    }
    ((__global uint*)out)[g] = r;
}
