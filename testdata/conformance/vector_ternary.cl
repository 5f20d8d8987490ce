// conformance: out=8192 global=256 local=64
// ?: chooses components by the sign bit, with a scalar condition whole vectors.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int4 x = vload4(g & 63, (__global const int*)(in + 1536));
    float4 f = convert_float4(x & 0xFFFF);
    int4 a = x ? x.yzwx : (int4)1;
    float4 b = f > 1000.0f ? f : -f;
    int4 c = g & 1 ? a : x;
    vstore4(a + c, g, (__global int*)out);
    vstore4(as_int4(b), g + 256, (__global int*)out);
}
