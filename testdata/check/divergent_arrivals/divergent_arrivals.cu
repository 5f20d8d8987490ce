// The barrier is for all threads of the block, of which half come.
// expect: divergent
// finding A: barrier-divergence
#include <cuda/barrier>

__global__ void half(int *p)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    if (threadIdx.x == 0) {
        init(&all, blockDim.x);
    }
    __syncthreads();
    p[threadIdx.x] = 1;
    if (threadIdx.x % 2 == 0) {
        all.wait(all.arrive()); // <- A
    }
}
