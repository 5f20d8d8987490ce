// fault: out-of-bounds: the guard asks for the place that is read.
//
// Moves an image one texel to the right; its first column stays as it is.
kernel void shift_right(read_only image2d_t from, write_only image2d_t to) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x < get_image_width(to) && at.y < get_image_height(to))
        write_imageui(to, at + (int2)(1, 0), read_imageui(from, s, at));
}
