// conformance: out=8192 global=256 local=64
// Literals of vectors made of scalars and shorter vectors; initialisers with braces.
constant int4 table[3] = { (int4)(1, 2, 3, 4), { 5, 6, 7, 8 }, (int4)(9) };

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int2 p = (int2)(g, -(int)g);
    int8 v = (int8)(p, 7, p.yx, (int2)(3), p.x);
    int4 w = { p, p + 1 };
    int4 t = table[g % 3];
    vstore4(v.lo + w + t, g, (__global int*)out);
    vstore4(v.hi - w.wzyx, g + 256, (__global int*)out);
}
