// reduction_tree.cl in CUDA, each line in its place.


extern __shared__ int tile[];

__global__ void reduction_tree(const int *in, int *partial, const int n)
{
    const int lid = threadIdx.x;
    const int gid = blockIdx.x * blockDim.x + threadIdx.x;

    tile[lid] = gid < n ? in[gid] : 0;
    __syncthreads();

    for (int stride = (int)blockDim.x / 2; stride > 0; stride >>= 1) {
        if (lid < stride) {
            tile[lid] += tile[lid + stride];
        }
        __syncthreads();
    }

    if (lid == 0) {
        partial[blockIdx.x] = tile[0];
    }
}
