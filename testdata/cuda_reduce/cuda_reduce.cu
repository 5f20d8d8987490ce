// Sum of each block's part of the input, by a tree in shared memory; `reduction_tree` is the same in OpenCL C.
//
// Fixture: a template over the block's size, static shared memory, barriers before and inside a loop.

template <int BLOCK>
__global__ void reduce(const int *in, int *partial, int n)
{
    __shared__ int tile[BLOCK];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    tile[t] = i < n ? in[i] : 0;
    __syncthreads();

    for (int stride = BLOCK / 2; stride > 0; stride >>= 1) {
        if (t < stride) {
            tile[t] += tile[t + stride];
        }
        __syncthreads();
    }

    if (t == 0) {
        partial[blockIdx.x] = tile[0];
    }
}

template __global__ void reduce<8>(const int *, int *, int);
template __global__ void reduce<1>(const int *, int *, int);
