// Layers of one image are mixed into those of another; columns go the other way round.
// expect: clean all-interleavings
kernel void mix_layers(read_only image2d_array_t from, write_only image2d_array_t to, sampler_t s) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1), z = (int)get_global_id(2);
    int layers = (int)get_image_array_size(from), width = get_image_width(to);
    float4 here = read_imagef(from, s, (float4)(x + 0.5f, y + 0.5f, z, 0.0f));
    float4 next = read_imagef(from, s, (float4)(x + 0.5f, y + 0.5f, (z + 1) % layers, 0.0f));
    write_imagef(to, (int4)(width - 1 - x, y, z, 0), mix(here, next, 0.25f));
}
