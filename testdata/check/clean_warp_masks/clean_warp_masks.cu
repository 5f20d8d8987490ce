// Groups of lanes that a vote forms exchange values through shared memory, each in a branch of its own.
// expect: clean
__global__ void groups(const int *in, int *out)
{
    __shared__ int part[32];
    const int t = threadIdx.x;
    const unsigned odd = __ballot_sync(0xffffffffu, in[t] % 2);
    part[t] = in[t];
    if (in[t] % 2) {
        __syncwarp(odd);
        const int first = __ffs(odd) - 1;
        out[t] = part[first] + __shfl_sync(odd, in[t], first);
    } else {
        __syncwarp(~odd);
        const int first = __ffs(~odd) - 1;
        out[t] = part[first] - __shfl_sync(~odd, in[t], first);
    }
}
