/* Blurs a picture by the binomial filter 1-2-1 in both directions.
 *
 * The caller's sampler decides what lies outside; transparent pixels (alpha below a threshold) are copied as they are.
 * Fixture for: image2d_t in and out, a sampler argument, read_imagef and write_imagef, image coordinates, a table in
 * constant memory.
 */

__constant float WEIGHTS[3] = {0.25f, 0.5f, 0.25f};

__kernel void blur_image(__read_only image2d_t src, sampler_t smp, float threshold, __write_only image2d_t dst)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x >= get_image_width(src) || at.y >= get_image_height(src))
        return;

    float4 centre = read_imagef(src, smp, at);
    if (centre.w < threshold) {
        write_imagef(dst, at, centre);
        return;
    }

    float4 sum = (float4)(0.0f);
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            float weight = WEIGHTS[dx + 1] * WEIGHTS[dy + 1];
            sum += weight * read_imagef(src, smp, at + (int2)(dx, dy));
        }
    }
    sum.w = centre.w;
    write_imagef(dst, at, sum);
}
