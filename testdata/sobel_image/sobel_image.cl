/* Edge detection: the sum of the absolute gradients by the Sobel operators.
 *
 * Fixture for: a sampler that is a constant in the kernel, single-channel float images, a border decision of four operands,
 * a threshold ternary.
 */

__constant sampler_t NEAREST = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

float luminance(__read_only image2d_t src, int x, int y)
{
    return read_imagef(src, NEAREST, (int2)(x, y)).x;
}

__kernel void sobel_image(__read_only image2d_t src, __write_only image2d_t dst, float threshold)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    int width = get_image_width(src);
    int height = get_image_height(src);

    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        write_imagef(dst, (int2)(x, y), (float4)(0.0f, 0.0f, 0.0f, 1.0f));
        return;
    }

    float nw = luminance(src, x - 1, y - 1);
    float n = luminance(src, x, y - 1);
    float ne = luminance(src, x + 1, y - 1);
    float w = luminance(src, x - 1, y);
    float e = luminance(src, x + 1, y);
    float sw = luminance(src, x - 1, y + 1);
    float s = luminance(src, x, y + 1);
    float se = luminance(src, x + 1, y + 1);

    float gx = (ne + 2.0f * e + se) - (nw + 2.0f * w + sw);
    float gy = (sw + 2.0f * s + se) - (nw + 2.0f * n + ne);
    float strength = fabs(gx) + fabs(gy);
    float shown = threshold > 0.0f ? (strength >= threshold ? 1.0f : 0.0f) : strength;
    write_imagef(dst, (int2)(x, y), (float4)(shown, 0.0f, 0.0f, 1.0f));
}
