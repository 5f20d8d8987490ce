// The kernel knows how wide its image is, and checks one texel too few.
// expect: memory-fault
constant sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

kernel void invert(read_only image2d_t in, write_only image2d_t out) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x > get_image_width(in) || y >= get_image_height(in))
        return;
    const float4 value = read_imagef(in, plain, (int2)(x, y));
    if (x < get_image_width(out) && y < get_image_height(out))
        write_imagef(out, (int2)(x, y), 1.0f - value);
}
