// A barrier for other than all threads of its block, which kassay does not have: it says so where that is known, in a run.
// expect: memory-fault
// finding A: assertion
#include <cuda/barrier>

__global__ void part(int *p)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> some;
    if (threadIdx.x == 0) {
        init(&some, blockDim.x / 2); // <- A
    }
    __syncthreads();
    if (threadIdx.x < blockDim.x / 2) {
        p[threadIdx.x] = 1;
        some.arrive_and_wait();
    }
}
