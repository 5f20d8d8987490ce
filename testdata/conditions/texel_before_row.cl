// Images may be as large as a host likes, but none has a texel before its first one.
// expect: memory-fault
constant sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

kernel void slope(read_only image2d_t in, write_only image2d_t out, int width, int height) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    const float4 left = read_imagef(in, plain, (int2)(x - 1, y)), right = read_imagef(in, plain, (int2)(x + 1, y));
    write_imagef(out, (int2)(x, y), (right - left) * 0.5f);
}
