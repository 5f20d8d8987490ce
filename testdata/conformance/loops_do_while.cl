// conformance: out=1024 global=256 local=64
// Loops of all kinds with continue and break, and conditions with side effects.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = (in + 256)[g], r = 0, i = 0;
    do {
        if (i == 3) continue;
        r += i;
    } while (++i < x % 11);
    while (x-- > 0) {
        if (x % 7 == 5) break;
        r ^= x;
    }
    for (;;) {
        if ((r = r * 5 + 1 & 1023) % 3 == 0) break;
        if (++i > 40) break;
    }
    for (int a = 0, b = 10; a < b; a += 2, --b)
        r += a * b;
    ((__global int*)out)[g] = r * 100 + i;
}
