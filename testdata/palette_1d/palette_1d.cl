/* Colours a picture of palette indices.
 *
 * The palette is a one-dimensional image; one index may stand for transparency, where the background shows. Fixture for:
 * image1d_t, uchar4 buffers, convert_uchar4_sat, a two-dimensional global id over a linear buffer.
 */

__constant sampler_t PICK = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void palette_1d(__global const uchar *indices, __read_only image1d_t palette, int transparent, int gain,
                         __global uchar4 *picture)
{
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    int index = indices[at];
    if (index == transparent)
        return;

    int last = get_image_width(palette) - 1;
    if (index > last)
        index = last;
    uint4 colour = read_imageui(palette, PICK, index);
    if (gain != 1) {
        uint alpha = colour.w;
        colour *= (uint4)(gain);
        colour.w = alpha;
    }
    picture[at] = convert_uchar4_sat(colour);
}
