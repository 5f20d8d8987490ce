// Each half of the warp synchronises, and then reads what the other half has written.
// expect: racy
// finding A: data-race intra-group local part
__global__ void halves(const int *in, int *out)
{
    __shared__ int part[32];
    const int t = threadIdx.x;
    const unsigned half = t < 16 ? 0x0000ffffu : 0xffff0000u;
    part[t] = in[t]; // <- A
    __syncwarp(half);
    out[t] = part[31 - t]; // <- A
}
