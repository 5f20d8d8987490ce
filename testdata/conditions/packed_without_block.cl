// Channels lie beside each other in an image, but all blocks of channels write the texels of the first one.
// expect: racy
kernel void halve(read_only image2d_t in, write_only image2d_t out, const int width) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const int block = get_global_id(0), x = get_global_id(1), y = get_global_id(2);
    write_imagef(out, (int2)(x, y), 0.5f * read_imagef(in, nearest, (int2)(block * width + x, y)));
}
