// Sums of the elements that each warp has, and how many of its threads hold the same digit.
//
// Fixture: functions of warps whose masks only a run knows. In whole warps all threads take part, which devices of OpenCL
// run, too; the threads of a ragged end leave the branch to the others, which name only themselves.

__global__ void digits(const int *in, int *sums, int *same, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned there = __ballot_sync(0xffffffff, i < n);
    if (i < n) {
        int sum = in[i];
        for (int d = 16; d > 0; d /= 2) {
            const int next = __shfl_down_sync(there, sum, d);
            if (threadIdx.x % 32 + d < __popc(there))
                sum += next;
        }
        if (threadIdx.x % 32 == 0)
            sums[i / 32] = sum;
        same[i] = __popc(__match_any_sync(there, in[i] % 10));
    }
}
