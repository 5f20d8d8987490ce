// Blocks halve sums of 64 in shared memory: however the second dimension is used, a block is one row of as many threads.
// expect: clean
#define THREADS 64

__global__ void norms(const float *fields, float *sums, int width, int height)
{
    __shared__ float partial[THREADS];
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float square = 0.0f;
    if (column < width && row < height) {
        const float value = fields[row * width + column];
        square = value * value;
    }
    partial[threadIdx.x] = square;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[row * gridDim.x + blockIdx.x] = partial[0];
}
