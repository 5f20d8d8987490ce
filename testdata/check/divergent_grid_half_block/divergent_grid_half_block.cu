// Only the first thread of each block waits for the grid; CUDA wants all of them there.
// expect: divergent
// finding A: barrier-divergence
#include <cooperative_groups.h>

__global__ void leaders(int *p)
{
    if (threadIdx.x == 0) {
        p[blockIdx.x] = 1;
        cooperative_groups::this_grid().sync(); // <- A
    }
}
