// Moves values into bins whose sizes the host has counted wrongly.
// expect: memory-fault
// finding A: assertion
#include <assert.h>

__device__ int place(int *taken, const int *size, int bin)
{
    const int at = atomicAdd(&taken[bin], 1);
    assert(at < size[bin]); // <- A
    return at;
}

__global__ void fill_bins(const int *bin, const int *start, const int *size, int *taken, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int at = place(taken, size, bin[i]);
    out[start[bin[i]] + at] = i;
}
