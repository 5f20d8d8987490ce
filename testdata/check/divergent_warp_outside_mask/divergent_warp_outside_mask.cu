// Lanes pass a mask that does not name them.
// expect: divergent
// finding A: barrier-divergence
__global__ void outside(unsigned *out)
{
    out[threadIdx.x] = __ballot_sync(0x00ffffffu, threadIdx.x % 3 == 0); // <- A
}
