// conformance: out=8192 global=256 local=64 values=uint
// Integer builtins as kernels use them: saturation, averages, 24 bits, widening, counts.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int i = ((__global const int*)(in + 1536))[g], j = ((__global const int*)(in + 1536))[255 - g];
    uint u = ((__global const uint*)(in + 2560))[g], w = ((__global const uint*)(in + 2560))[255 - g];
    char4 c = vload4(g & 63, (__global const char*)in);
    __global uint* to = (__global uint*)out + 8 * g;
    to[0] = add_sat(i, j) + sub_sat(u, w) * 3 + (uint)add_sat(c, c.wzyx).x;
    to[1] = hadd(i, j) + rhadd(u, w) * 3;
    to[2] = mul24(i >> 8, j >> 8) + mad24(u & 0xFFFFFF, w & 0xFFFFFF, u);
    to[3] = abs(i) + abs_diff(i, j) * 3 + as_uint(abs(c));
    to[4] = upsample((ushort)u, (ushort)w) ^ (uint)upsample((short)i, (ushort)w) ^ (uint)(upsample(u, w) >> 20);
    to[5] = clz(u) + popcount(w) * 64 + clz((uchar)u) * 4096 + popcount((ushort)w) * 65536;
    to[6] = mul_hi(u, w) + (uint)mul_hi(i, j) + mad_hi(u, w, u);
    to[7] = rotate(u, w) ^ clamp(i, -100, 100) ^ min(i, j) ^ max(u, w) ^ as_uint(rotate(as_uchar4(c), (uchar4)3));
}
