// One explicit step of diffusion on a grid whose border stays as it is; a work-item computes TILE_X elements of a row.
//
// Fixture: LIU's "Diffusion (tiling)" (tables 7.3 to 7.8): a halo in local memory that is loaded by strided loops, then a
// loop of constant length. A work-group is BLOCK by BLOCK.

#define BLOCK 4
#define TILE_X 2
#define WIDTH (BLOCK * TILE_X + 2)
#define HEIGHT (BLOCK + 2)

__kernel void liu_diffusion_tiled(__global float *next, __global const float *now, const int nx, const int ny,
                                  const float rate)
{
    __local float tile[HEIGHT][WIDTH];
    int tx = get_local_id(0);
    int ty = get_local_id(1);
    int left = get_group_id(0) * BLOCK * TILE_X;
    int top = get_group_id(1) * BLOCK;

    for (int i = ty; i < HEIGHT; i += BLOCK) {
        for (int j = tx; j < WIDTH; j += BLOCK) {
            int x = left + j - 1;
            int y = top + i - 1;
            if (x >= 0 && x < nx && y >= 0 && y < ny)
                tile[i][j] = now[y * nx + x];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    int y = top + ty;
    for (int t = 0; t < TILE_X; t++) {
        int j = tx + t * BLOCK;
        int x = left + j;
        if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
            next[y * nx + x] = tile[ty + 1][j + 1] + rate * (tile[ty + 2][j + 1] + tile[ty][j + 1] + tile[ty + 1][j + 2]
                                                             + tile[ty + 1][j] - 4.0f * tile[ty + 1][j + 1]);
        }
    }
}
