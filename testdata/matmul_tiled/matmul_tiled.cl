// C = A * B for row-major square matrices of any size, tile by tile through local memory; TILE is the work-group's edge.
//
// Fixture: static __local arrays, two barriers in a loop, a required work-group size, short-circuit ternaries that pad
// the tiles at the matrix's edge with zeros, a value set by a -D option.

#ifndef TILE
#define TILE 16
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul_tiled(__global const float *a, __global const float *b, __global float *c, const int n)
{
    __local float tile_a[TILE][TILE];
    __local float tile_b[TILE][TILE];

    const int tx = get_local_id(0);
    const int ty = get_local_id(1);
    const int col = get_global_id(0);
    const int row = get_global_id(1);
    const int tiles = (n + TILE - 1) / TILE;

    float sum = 0.0f;
    for (int t = 0; t < tiles; ++t) {
        const int ka = t * TILE + tx;
        const int kb = t * TILE + ty;

        tile_a[ty][tx] = (row < n && ka < n) ? a[row * n + ka] : 0.0f;
        tile_b[ty][tx] = (kb < n && col < n) ? b[kb * n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < TILE; ++k) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (row < n && col < n) {
        c[row * n + col] = sum;
    }
}
