// Four lanes that the mask names go past the shuffle.
// expect: divergent
// finding A: barrier-divergence
__global__ void missing(int *out)
{
    int v = threadIdx.x;
    if (threadIdx.x < 12) {
        v = __shfl_sync(0x0000ffffu, v, 3); // <- A
    }
    out[threadIdx.x] = v;
}
