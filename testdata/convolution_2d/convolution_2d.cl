/* Convolution of a picture with a square filter, tiled in local memory.
 *
 * A work-group of TILE by TILE work-items loads its tile with a halo of `radius` on every side (at most MAX_RADIUS), then
 * sums. Pixels outside the picture count as the nearest edge pixel or as zero. Fixture for: a strided cooperative load,
 * local memory in two dimensions, constant memory, nested loops, clamp, -D options.
 */

#ifndef TILE
#define TILE 8
#endif
#define MAX_RADIUS 2
#define SIDE (TILE + 2 * MAX_RADIUS)

float pixel(__global const float *picture, int width, int height, int x, int y, int clamped)
{
    if (clamped) {
        x = clamp(x, 0, width - 1);
        y = clamp(y, 0, height - 1);
    } else if (x < 0 || x >= width || y < 0 || y >= height) {
        return 0.0f;
    }
    return picture[y * width + x];
}

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void convolution_2d(__global const float *picture, __constant float *filter, __global float *result, int width, int height,
                    int radius, int clamped)
{
    __local float tile[SIDE][SIDE];
    int lx = get_local_id(0);
    int ly = get_local_id(1);
    int left = get_group_id(0) * TILE - radius;
    int top = get_group_id(1) * TILE - radius;
    int side = TILE + 2 * radius;

    for (int y = ly; y < side; y += TILE) {
        for (int x = lx; x < side; x += TILE)
            tile[y][x] = pixel(picture, width, height, left + x, top + y, clamped);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    int gx = get_global_id(0);
    int gy = get_global_id(1);
    if (gx < width && gy < height) {
        float sum = 0.0f;
        for (int dy = 0; dy <= 2 * radius; dy++)
            for (int dx = 0; dx <= 2 * radius; dx++)
                sum += filter[dy * (2 * radius + 1) + dx] * tile[ly + dy][lx + dx];
        result[gy * width + gx] = sum;
    }
}
