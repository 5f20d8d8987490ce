// conformance: out=4096 global=256 local=64
// Wide numbers narrowed and widened again, with and without sign, in one expression and through variables.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    long l = ((__global const long*)(in + 3584))[g];
    int i = ((__global const int*)(in + 1536))[g];
    __global int* to = (__global int*)out;
    to[g] = (ushort)l + (uchar)i + (short)(uchar)l;
    to[256 + g] = (char)l + (short)i * 3 + (int)(char)(short)l;
    to[512 + g] = (int)((long)(uint)l >> 3) ^ (int)((ulong)(char)l >> 40);
    to[768 + g] = (ushort)((uchar)l * 257) + convert_ushort_sat(l) + (uchar)(bool)l;
}
