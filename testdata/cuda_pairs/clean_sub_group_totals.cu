// clean_sub_group_totals.cl in CUDA, each line in its place.

__global__ void total(const int *in, int *out) {
    __shared__ int part[4];
    int mine = __reduce_add_sync(~0u, in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned k = 0; k < (blockDim.x + 31) / 32; k++)
            sum += part[k];
        out[blockIdx.x] = sum;
    }
}
