// conformance: out=2048 global=8x4 local=8x4 values=float ulps=4 picture=8x4 smp=LINEAR:CLAMP_TO_EDGE formats=float
// Linear filters at the centres of texels, where they give the texel itself.
__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture, sampler_t smp)
{
    int x = get_global_id(0), y = get_global_id(1), at = 8 * y + x;
    __global float* to = (__global float*)out + 16 * at;
    vstore4(read_imagef(picture, smp, (float2)(x + 0.5f, y + 0.5f)), 0, to);
    vstore4(read_imagef(picture, smp, (float2)(x + 3.5f, y + 2.5f)), 1, to);
}
