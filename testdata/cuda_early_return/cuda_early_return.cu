// How much each element exceeds the one before it in its block, and which of a warp's threads saw a rise.
//
// Fixture: threads without an element return before the barrier and the vote, which wait only for the others, as CUDA
// has it; a clamp by the library's `max` and `min`, which is no decision of this file.

__global__ void rises(const int *in, int *out, unsigned *votes, int n)
{
    __shared__ int block[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;

    block[threadIdx.x] = min(max(in[i], 0), 1000);
    __syncthreads();

    const int before = threadIdx.x > 0 ? block[threadIdx.x - 1] : 0;
    const int rise = block[threadIdx.x] - before;
    out[i] = rise;

    const unsigned risen = __ballot_sync(0xffffffff, rise > 0);
    if (threadIdx.x % 32 == 0)
        votes[i / 32] = risen;
}
