// Votes and shuffles wait for lanes, but order no memory.
// expect: racy
// finding A: data-race intra-group local part
__global__ void voted(const int *in, int *out)
{
    __shared__ int part[32];
    const int t = threadIdx.x;
    part[t] = in[t]; // <- A
    const int any = __any_sync(0xffffffffu, in[t] > 3);
    out[t] = any + part[t ^ 1]; // <- A
}
