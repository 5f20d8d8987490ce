/* Kernels of image_blur.c. */

/* The mean of the 3 by 3 pixels around each; the sampler says what lies beyond the edges. */
kernel void blur(read_only image2d_t from, write_only image2d_t to, sampler_t edges)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    uint4 sum = (uint4)(0);
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += read_imageui(from, edges, at + (int2)(dx, dy));
    write_imageui(to, at, sum / 9);
}

constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

kernel void luma(read_only image2d_t from, global uchar *gray)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    uint4 pixel = read_imageui(from, exact, at);
    gray[at.y * get_image_width(from) + at.x] = (uchar)((pixel.x * 2 + pixel.y * 5 + pixel.z) / 8);
}
