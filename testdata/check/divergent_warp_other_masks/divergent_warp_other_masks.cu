// Neighbours do not name each other alike.
// expect: divergent
// finding A: barrier-divergence
__global__ void others(int *out)
{
    const unsigned pair = 3u << (threadIdx.x & ~1u);
    const unsigned mask = threadIdx.x % 2 == 0 ? pair : pair | 1u;
    out[threadIdx.x] = __any_sync(mask, threadIdx.x == 5); // <- A
}
