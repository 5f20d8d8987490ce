// conformance: out=1024 global=16x16 local=8x8
// Mandelbrot's set in fixed point with products of 64 bits.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    int x = get_global_id(0), y = get_global_id(1);
    int a = (x - 11) << 13, b = (y - 8) << 13, p = a, q = b, n = 0;
    while (n < 200) {
        int pp = (int)((long)p * p >> 16), qq = (int)((long)q * q >> 16);
        if (pp + qq > 4 << 16) break;
        q = (int)((long)p * q >> 15) + b;
        p = pp - qq + a;
        n++;
    }
    ((__global int*)out)[16 * y + x] = n;
}
