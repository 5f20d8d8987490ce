// conformance: out=4096 global=256 local=64
// Comparisons of vectors give -1, those of scalars 1; both through variables, selection and negation.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int4 x = vload4(g & 63, (__global const int*)(in + 1536));
    short4 s = vload4(g & 63, (__global const short*)(in + 512));
    int4 less = x < x.wzyx, not = !x;
    short4 both = (s > (short4)0) && (s < (short4)100);
    short4 either = (s > (short4)0) || (s < (short4)-100);
    int scalar = (x.x < x.y) + (s.x == s.y);
    int4 r = (less ? x : (int4)g) + not * 3 + convert_int4(both) * 5 + convert_int4(either) * 7;
    vstore4(r + scalar, g, (__global int*)out);
}
