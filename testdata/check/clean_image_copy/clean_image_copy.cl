// Each item reads its neighbourhood of one image and writes its texel of another.
// expect: clean all-interleavings
kernel void soften(read_only image2d_t from, write_only image2d_t to) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = read_imagef(from, s, at) + read_imagef(from, s, at + (int2)(1, 0)) + read_imagef(from, s, at - (int2)(1, 0));
    write_imagef(to, at, sum / 3.0f);
}
