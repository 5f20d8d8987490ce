// histogram_atomic.cl in CUDA, each line in its place.




#define BINS 24

__global__ void histogram_atomic(const int *samples, const unsigned count, const int low, const int high,
                               unsigned *bins, unsigned *outside)
{
    __shared__ unsigned mine[BINS];
    const unsigned lid = threadIdx.x;
    const unsigned width = blockDim.x;

    for (unsigned b = lid; b < BINS; b += width)
        mine[b] = 0;
    __syncthreads();

    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const int sample = samples[i];
        if (sample < low) {
            atomicAdd(&outside[0], 1u);
        } else if (sample >= high) {
            atomicAdd(&outside[1], 1u);
        } else {
            const unsigned b = (unsigned)(sample - low) * BINS / (unsigned)(high - low);
            atomicAdd(&mine[b], 1u);
        }
    }
    __syncthreads();

    for (unsigned b = lid; b < BINS; b += width) {
        if (mine[b] != 0)
            atomicAdd(&bins[b], mine[b]);
    }
}
