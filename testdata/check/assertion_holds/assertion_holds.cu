// Moves values into bins with room for all: no assertion fails. Another one is left out with NDEBUG.
// expect: clean
#include <assert.h>

__device__ int place(int *taken, const int *size, int bin)
{
    const int at = atomicAdd(&taken[bin], 1);
    assert(at < size[bin]);
    return at;
}

#define NDEBUG
#include <assert.h>

__global__ void fill_bins(const int *bin, const int *start, const int *size, int *taken, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < 3);
    const int at = place(taken, size, bin[i]);
    out[start[bin[i]] + at] = i;
}
