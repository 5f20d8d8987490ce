// conformance: out=4096 global=256 local=64 values=uchar
// Shifts of narrow vectors stay narrow; those of narrow scalars are promoted.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    char4 c = vload4(g & 63, (__global const char*)in);
    uchar4 u = as_uchar4(c);
    uchar one = u.x;
    char small = c.y;
    uchar4 r = (u << (uchar4)3) >> (uchar4)3;
    r.x ^= (one << 3) >> 3;
    r.y ^= as_uchar((char)(small >> 2));
    char4 s = c >> (char4)2;
    vstore4(r, g, out);
    vstore4(as_uchar4(s), g + 256, out);
    vstore4(u * u + u, g + 512, out);
    vstore4(as_uchar4(c * (char4)-1), g + 768, out);
}
