// Channels lie beside each other in an image, four of them in a texel, as wide as a scalar says.
// expect: clean
kernel void halve(read_only image2d_t in, write_only image2d_t out, const int width) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const int block = get_global_id(0), x = get_global_id(1), y = get_global_id(2);
    const int2 at = (int2)(mad24(block, width, x), y);
    write_imagef(out, at, 0.5f * read_imagef(in, nearest, at));
}
