// conformance: out=8192 global=256 local=64 values=uint
// vloada_half and vstorea_half, whose vectors of three have the stride of four, in local memory.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local half halves[1024] __attribute__((aligned(64)));
    size_t g = get_global_id(0), l = get_local_id(0);
    float4 v = convert_float4(vload4(g & 63, (__global const short*)(in + 512)) & (short)2047);
    vstorea_half4(v, 2 * l, halves);
    vstorea_half4((float4)(7.0f), 2 * l + 1, halves);
    vstorea_half3(v.zyx, 2 * l + 1, halves);
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 a = vloada_half4(2 * (63 - l) + 1, halves);
    float3 b = vloada_half3(2 * l, halves);
    float2 c = vloada_half2(4 * (l & 15), halves);
    vstore4(as_uint4((float4)(a.xyz, c.x)), g, (__global uint*)out);
    vstore4(as_uint4((float4)(b, c.y)), g + 256, (__global uint*)out);
}
