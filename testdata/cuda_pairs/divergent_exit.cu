// divergent_exit.cl in CUDA, each line in its place.


extern __shared__ int tile[];

__global__ void divergent_exit(const int *in, int *out, const int n, const int twice)
{
    const int gid = blockIdx.x * blockDim.x + threadIdx.x;
    const int lid = threadIdx.x;

    if (gid >= n)
        return;

    tile[lid] = in[gid];
    __syncthreads();
    int sum = tile[lid] + tile[lid ^ 1];

    if (twice) {
        tile[lid] = sum;
        __syncthreads();
        sum += tile[lid ^ 1];
    }
    out[gid] = sum;
}
