// Filters along rows and along columns ("convolutionSeparable"), and one that reads an image ("convolutionTexture").

#define RADIUS 3
#define ROW_GROUP 16

kernel void convolution_rows(global float *out, global const float *in, constant float *filter, int width, int height)
{
    local float line[ROW_GROUP + 2 * RADIUS];
    int x = get_global_id(0);
    int y = get_global_id(1);
    int lid = get_local_id(0);
    int first = get_group_id(0) * ROW_GROUP - RADIUS;

    for (int i = lid; i < ROW_GROUP + 2 * RADIUS; i += ROW_GROUP)
        line[i] = first + i >= 0 && first + i < width ? in[y * width + first + i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += filter[k] * line[lid + k];
    out[y * width + x] = sum;
}

kernel void convolution_image(read_only image2d_t in, sampler_t smp, global float *out, constant float *filter, int width,
                              int height)
{
    int x = get_global_id(0);
    int y = get_global_id(1);

    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += filter[RADIUS - k] * read_imagef(in, smp, (int2)(x + k, y)).x;
    out[y * width + x] = sum;
}
