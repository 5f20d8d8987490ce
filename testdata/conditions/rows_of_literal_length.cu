// Matrices have rows of a literal length, and tiles as many elements as a block has threads: the rows of matrices do not say how
// large a block is.
// expect: clean
#define SIDE 1024

__global__ void product(const int *a, const int *b, int *c)
{
    __shared__ int tile_a[SIDE], tile_b[SIDE];
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    const int here = threadIdx.y * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int tile = 0; tile < 4; ++tile) {
        const int begin = tile * blockDim.x;
        tile_a[here] = a[row * SIDE + begin + threadIdx.x];
        tile_b[here] = b[(begin + threadIdx.y) * SIDE + column];
        __syncthreads();
        for (int k = 0; k < blockDim.x && k < blockDim.y; ++k)
            sum += tile_a[threadIdx.y * blockDim.x + k] * tile_b[k * blockDim.x + threadIdx.x];
        __syncthreads();
    }
    c[row * SIDE + column] = sum;
}
