// A texel written beyond the image's edge.
// expect: memory-fault
// finding A: out-of-bounds image to
kernel void shift_right(read_only image2d_t from, write_only image2d_t to) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at + (int2)(1, 0), read_imagef(from, s, at)); // <- A
}
