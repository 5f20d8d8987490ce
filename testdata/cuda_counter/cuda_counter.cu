// Counts what is positive in a variable of the device, and lets the last block take the number.
//
// Fixture: `__device__` variables, a fence, a ticket, `__syncthreads_count`.

__device__ int total = 100;
__device__ unsigned finished;

__global__ void count(const float *in, int *result)
{
    __shared__ bool is_last;
    const int n = __syncthreads_count(in[blockIdx.x * blockDim.x + threadIdx.x] > 0.0f);
    if (threadIdx.x == 0) {
        atomicAdd(&total, n);
        __threadfence();
        is_last = atomicAdd(&finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        *result = atomicAdd(&total, 0);
    }
}
