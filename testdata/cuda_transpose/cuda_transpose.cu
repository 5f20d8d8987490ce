// Transposes a matrix by tiles in shared memory, with a column more than a tile has.
//
// Fixture: blocks and grids of two dimensions, a two-dimensional array in shared memory, || of conditions.

#define TILE 4

__global__ void transpose(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) {
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x >= height || y >= width) {
        return;
    }
    out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
