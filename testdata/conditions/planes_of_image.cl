// Planes of an image lie below each other, as many rows apart as a scalar says, the last one with half as many.
// expect: clean
kernel void planes(read_only image2d_t in, write_only image2d_t out, const int height) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const int x = get_global_id(0), y = get_global_id(1);
    write_imagef(out, (int2)(x, 2 * y), read_imagef(in, nearest, (int2)(x, 2 * y)));
    write_imagef(out, (int2)(x, 2 * y + 1), read_imagef(in, nearest, (int2)(x, 2 * y + 1)));
    write_imagef(out, (int2)(x, y + height), read_imagef(in, nearest, (int2)(x, 2 * y)) * 0.5f);
}
