// conformance: out=1024 global=256 local=64
// Nested loops with breaks of outer ones by flags and goto, returns from the inside of the kernel.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const uchar* bytes = in + 256;
    __global int* to = (__global int*)out + g;
    *to = -1;
    bool found = false;
    int x, y;
    for (y = 0; y < 10 && !found; y++) {
        for (x = 0; x < 10; x++) {
            int b = bytes[(g + 10 * y + x) & 255];
            if (b == 255) { *to = x; return; }
            if (b % 50 == 7) { found = true; break; }
            if (b > 250) goto leave;
        }
        if (x == 10 && y == 8) return;
    }
    *to = y * 100 + x;
    return;
leave:
    *to = -(y * 100 + x) - 2;
}
