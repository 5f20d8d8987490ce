// Reverses each block's part in dynamic shared memory, which a device function fills.
//
// Fixture: `extern __shared__` in the kernel and in a function, whose size the launch says.

extern __shared__ int part[];

__device__ void fill(const int *in, int i)
{
    part[threadIdx.x] = in[i];
}

__global__ void reverse(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    fill(in, i);
    __syncthreads();
    out[i] = part[blockDim.x - 1 - threadIdx.x];
}
