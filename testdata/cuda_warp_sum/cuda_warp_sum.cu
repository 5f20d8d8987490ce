// Sums of warps by shuffles, their votes, and a sum of the block from the warps'.
//
// Fixture: functions of warps, for which sub-groups have 32 work-items; a template over the type.

#define ALL 0xffffffffu

template <typename T>
__device__ T warp_sum(T v)
{
    for (int d = 16; d > 0; d /= 2) {
        v += __shfl_down_sync(ALL, v, d);
    }
    return v;
}

__global__ void sums(const int *in, int *out, unsigned *votes)
{
    __shared__ int parts[32];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    const int v = in[i];
    const int sum = warp_sum(v);
    const unsigned odd = __ballot_sync(ALL, v & 1);
    const int first = __shfl_sync(ALL, v, 0);
    const int swapped = __shfl_xor_sync(ALL, v, 1);
    if (t % 32 == 0) {
        parts[t / 32] = sum;
        votes[2 * (i / 32)] = odd;
        votes[2 * (i / 32) + 1] = __popc(odd);
    }
    __syncthreads();
    if (t == 0) {
        out[blockIdx.x] = parts[0] + parts[1];
    }
    out[gridDim.x + i] = first + swapped;
}
