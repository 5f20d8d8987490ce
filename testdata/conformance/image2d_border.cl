// conformance: out=2048 global=8x4 local=8x4 values=float ulps=4 picture=8x4 smp=NEAREST:CLAMP formats=float
// What lies outside of an image that is clamped to a border, by a sampler that is an argument.
__kernel void calls(__global uchar* out, __global const uchar* in, __read_only image2d_t picture, sampler_t smp)
{
    int x = get_global_id(0), y = get_global_id(1), at = 8 * y + x;
    __global float* to = (__global float*)out + 16 * at;
    vstore4(read_imagef(picture, smp, (int2)(x - 4, y)), 0, to);
    vstore4(read_imagef(picture, smp, (float2)(x + 0.5f, y - 1.5f)), 1, to);
    vstore4(read_imagef(picture, smp, (float2)(-0.5f, y + 0.5f)), 2, to);
}
