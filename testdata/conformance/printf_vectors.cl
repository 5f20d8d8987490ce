// conformance: out=4 global=1 local=1 printed=1
// printf of vectors of all element sizes.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    printf("%v4hld\n", vload4(0, (__global const int*)(in + 1536)));
    printf("%v2hlx|%v8hlu\n", vload2(1, (__global const uint*)(in + 2560)), vload8(1, (__global const uint*)(in + 2560)));
    printf("%v4hlf|%v3hlf\n", (float4)(1.5f, -2.25f, 3.0f, 0.125f), (float3)(1.0f, 2.0f, 3.0f));
    printf("[%6.2v2hlf] [%05v2hld]\n", (float2)(1.25f, -7.5f), (int2)(3, -4));
    printf("%v4hd|%v16hhu\n", vload4(2, (__global const short*)(in + 512)), vload16(1, in + 256));
    printf("%v2ld|%v4hhx\n", vload2(3, (__global const long*)(in + 3584)), vload4(2, in + 256));
    printf("%#v4hlx, %d after\n", (int4)(1, 2, 3, 4), 99);
    *(__global int*)out = 1;
}
