// The last block has nothing to do and returns; the others wait for it.
// expect: divergent
// finding A: barrier-divergence
#include <cooperative_groups.h>

__global__ void shrink(int *p, int blocks)
{
    if (blockIdx.x >= blocks) {
        return;
    }
    p[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    cooperative_groups::this_grid().sync(); // <- A
    p[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}
