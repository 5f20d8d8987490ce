// conformance: out=4096 global=256 local=64 values=uint
// vload, also of half, at the start of program-scope constants.
constant int numbers[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
constant ushort halves[8] = { 0x3C00, 0x4000, 0xC200, 0x3800, 0x5640, 1, 0x7BFF, 0x8000 };
constant struct { short a[8]; int b; } mixed = { { 9, 8, 7, 6, 5, 4, 3, 2 }, 1 };

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int4 a = vload4(0, numbers) + vload4(g & 3, numbers);
    int3 b = vload3(0, numbers);
    float4 c = vload_half4(0, (constant half*)halves);
    float d = vload_half(0, (constant half*)halves) + vload_half(g & 7, (constant half*)halves);
    short4 e = vload4(0, mixed.a) + vload4(g & 1, mixed.a);
    a += b.xyzx + as_int4(c) + as_int(d) + convert_int4(e) * mixed.b;
    vstore4(a, g, (__global int*)out);
}
