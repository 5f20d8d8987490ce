// Sums are halved in one row here, too, but threads read what others have not written yet.
// expect: racy
#define THREADS 64

__global__ void norms(const float *fields, float *sums, int width, int height)
{
    __shared__ float partial[THREADS];
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    partial[threadIdx.x] = column < width && row < height ? fields[row * width + column] : 0.0f;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2)
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
    if (threadIdx.x == 0)
        sums[row * gridDim.x + blockIdx.x] = partial[0];
}
