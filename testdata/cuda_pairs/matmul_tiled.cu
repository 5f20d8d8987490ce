// matmul_tiled.cl in CUDA, each line in its place.




#ifndef TILE
#define TILE 16
#endif

__global__ void __launch_bounds__(TILE *TILE)
matmul_tiled(const float *a, const float *b, float *c, const int n)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int tiles = (n + TILE - 1) / TILE;

    float sum = 0.0f;
    for (int t = 0; t < tiles; ++t) {
        const int ka = t * TILE + tx;
        const int kb = t * TILE + ty;

        tile_a[ty][tx] = (row < n && ka < n) ? a[row * n + ka] : 0.0f;
        tile_b[ty][tx] = (kb < n && col < n) ? b[kb * n + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        __syncthreads();
    }

    if (row < n && col < n) {
        c[row * n + col] = sum;
    }
}
