// conformance: out=4096 global=256 local=64 values=uint
// vload and vstore, also of half, at the very start of local arrays and of local structs.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct { int4 first; short rest[8]; } Cell;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int numbers[256];
    __local half halves[256];
    __local Cell cells[64];
    __local Cell only;
    size_t g = get_global_id(0), l = get_local_id(0);
    vstore4(vload4(g & 63, (__global const int*)(in + 1536)), l, numbers);
    vstore_half4(convert_float4(vload4(g & 63, (__global const short*)(in + 512)) & (short)1023), l, halves);
    vstore4((int4)(1, 2, 3, (int)l), 0, (__local int*)&cells[l]);
    vstore4(vload4(g & 31, (__global const short*)(in + 512)), 1, cells[l].rest);
    if (l == 0) {
        vstore4((int4)(5, 6, 7, 8), 0, (__local int*)&only);
        vstore8((short8)(9), 0, only.rest);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int4 a = vload4(0, numbers);
    float4 b = vload_half4(0, halves);
    float c = vload_half(0, halves);
    int4 d = vload4(0, (__local int*)&cells[0]);
    int4 e = vload4(0, (__local int*)&only);
    short4 f = vload4(1, only.rest);
    short4 h = vload4(1, cells[63 - l].rest);
    int4 r = (a ^ as_int4(b)) + as_int(c) + d * 3 + e * 5 + convert_int4(f + h);
    vstore4(r + vload4(l, numbers), g, (__global int*)out);
}
