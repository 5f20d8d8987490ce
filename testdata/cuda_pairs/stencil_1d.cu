// stencil_1d.cl in CUDA, each line in its place.


extern __shared__ float line[];

#define RADIUS 3

__global__ void stencil_1d(const float *in, float *out, const float *weight,
                         const int n)
{
    const int gid = blockIdx.x * blockDim.x + threadIdx.x;
    const int lid = threadIdx.x;
    const int width = blockDim.x;
    const int at = lid + RADIUS;

    line[at] = (gid < n) ? in[gid] : 0.0f;
    if (lid < RADIUS) {
        const int before = gid - RADIUS;
        const int after = gid + width;
        line[lid] = (before >= 0 && before < n) ? in[before] : 0.0f;
        line[at + width] = (after < n) ? in[after] : 0.0f;
    }
    __syncthreads();

    if (gid >= n)
        return;

    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; ++k)
        sum += weight[k + RADIUS] * line[at + k];
    out[gid] = sum;
}
