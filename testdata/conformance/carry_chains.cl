// conformance: out=4096 global=256 local=64 values=uint
// Addition and multiplication of 128-bit numbers in 32-bit pieces.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint4 a = vload4(g & 63, (__global const uint*)(in + 2560)), b = vload4(63 - (g & 63), (__global const uint*)(in + 2560));
    uint sum[4], x[4], y[4], product[4] = { 0 };
    vstore4(a, 0, x);
    vstore4(b, 0, y);
    uint carry = 0;
    for (int i = 0; i < 4; i++) {
        uint s = x[i] + y[i], t = s + carry;
        carry = (s < x[i]) | (t < s);
        sum[i] = t;
    }
    for (int i = 0; i < 4; i++) {
        ulong over = 0;
        for (int j = 0; i + j < 4; j++) {
            over += (ulong)x[i] * y[j] + product[i + j];
            product[i + j] = (uint)over;
            over >>= 32;
        }
    }
    vstore4(vload4(0, sum) ^ vload4(0, product) + carry, g, (__global uint*)out);
}
