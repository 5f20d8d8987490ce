// Lanes of both branches meet, each at the barrier of its own branch, as CUDA has it since Volta.
// expect: clean
__global__ void branches(const int *in, int *out)
{
    __shared__ int part[32];
    const int t = threadIdx.x;
    if (t < 16) {
        part[t] = in[t];
        __syncwarp();
        out[t] = part[t + 16];
    } else {
        part[t] = -in[t];
        __syncwarp();
        out[t] = part[t - 16];
    }
}
