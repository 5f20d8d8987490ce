// C = A * B for row-major square matrices; each work-item computes TILE_Y by TILE_X elements of C, BLOCK apart.
//
// Fixture: LIU's "matrix multiplication (tiling)" (tables 7.3 to 7.8): tiles in local memory and in registers, loops of
// constant length around everything. A work-group is BLOCK by BLOCK; n need not be a multiple of anything.

#define BLOCK 4
#define TILE_X 2
#define TILE_Y 2

__kernel void liu_matmul_tiling(__global float *c, __global const float *a, __global const float *b, const int n)
{
    __local float rows[BLOCK * TILE_Y][BLOCK];
    __local float columns[BLOCK][BLOCK * TILE_X];
    int tx = get_local_id(0);
    int ty = get_local_id(1);
    int x = get_group_id(0) * BLOCK * TILE_X + tx;
    int y = get_group_id(1) * BLOCK * TILE_Y + ty;
    float sum[TILE_Y][TILE_X];

    for (int i = 0; i < TILE_Y; i++) {
        for (int j = 0; j < TILE_X; j++)
            sum[i][j] = 0.0f;
    }
    for (int k = 0; k < n; k += BLOCK) {
        for (int i = 0; i < TILE_Y; i++) {
            int row = y + i * BLOCK;
            rows[ty + i * BLOCK][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0.0f;
        }
        for (int j = 0; j < TILE_X; j++) {
            int column = x + j * BLOCK;
            columns[ty][tx + j * BLOCK] = column < n && k + ty < n ? b[(k + ty) * n + column] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int t = 0; t < BLOCK; t++) {
            for (int i = 0; i < TILE_Y; i++) {
                for (int j = 0; j < TILE_X; j++)
                    sum[i][j] += rows[ty + i * BLOCK][t] * columns[t][tx + j * BLOCK];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < TILE_Y; i++) {
        for (int j = 0; j < TILE_X; j++) {
            if (y + i * BLOCK < n && x + j * BLOCK < n)
                c[(y + i * BLOCK) * n + x + j * BLOCK] = sum[i][j];
        }
    }
}
