// y = alpha * x + y for a batch of vectors, each of which lies somewhere else: hosts pass the addresses of all of them
// in two arrays.
__device__ float scaled(const float *const *vectors, int which, int i, float alpha)
{
    const float *vector = vectors[which];
    return alpha * vector[i];
}

__global__ void batched_axpy(const float *const *x, float **y, float alpha, int n)
{
    int which = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[which][i] += scaled(x, which, i, alpha);
    }
}
