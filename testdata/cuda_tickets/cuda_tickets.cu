// Hands out numbers, counting down from a limit again and again, and counts how often each is taken.
//
// Fixture: `atomicDec`, whose old value decides which element is written.

__global__ void tickets(unsigned *next, unsigned limit, int n, unsigned *taken)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned ticket = atomicDec(next, limit);
        atomicAdd(&taken[ticket], 1u);
    }
}
