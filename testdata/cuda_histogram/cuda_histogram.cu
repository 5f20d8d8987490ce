// Counts values into bins in shared memory, and adds these to the result.
//
// Fixture: atomics on shared and global memory, integers of 32 and 64 bits, a wrapping counter, a compare-and-swap.

#define BINS 4

__global__ void histogram(const unsigned *values, int n, unsigned *bins, unsigned long long *sum, unsigned *extremes,
                          unsigned *turns)
{
    __shared__ unsigned own[BINS];
    const int t = threadIdx.x;
    if (t < BINS) {
        own[t] = 0;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        const unsigned v = values[i];
        atomicAdd(&own[v % BINS], 1u);
        atomicAdd(sum, (unsigned long long)v);
        atomicMin(&extremes[0], v);
        atomicMax(&extremes[1], v);
        atomicInc(turns, 2u);
        atomicCAS(turns + 1, 7u, v);
    }
    __syncthreads();
    if (t < BINS) {
        atomicAdd(bins + t, own[t]);
    }
}
