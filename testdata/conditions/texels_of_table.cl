// A table of weights is an image with more texels than the launch has work-items in a row; the sampler does not keep coordinates inside.
// expect: clean
constant sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

kernel void spread(read_only image2d_t in, read_only image2d_t weights, write_only image2d_t out, int width, int height,
                   int reach) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float4 sum = 0.0f;
    for (int dy = -reach; dy <= reach; dy++)
        for (int dx = -reach; dx <= reach; dx++) {
            const int2 at = (int2)(clamp(x + dx, 0, width - 1), clamp(y + dy, 0, height - 1));
            sum += read_imagef(in, plain, at) * read_imagef(weights, plain, (int2)(dx + reach, dy + reach)).x;
        }
    write_imagef(out, (int2)(x, y), sum);
}
