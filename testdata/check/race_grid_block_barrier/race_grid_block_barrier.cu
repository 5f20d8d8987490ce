// The barrier between the phases is only the block's, although the second one reads what other blocks have written. Where
// the total is read, all blocks have met.
// expect: racy
// finding A: data-race inter-group global slots
#include <cooperative_groups.h>

__global__ void sums(const int *in, int *slots, int *out)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < blockDim.x; i++) {
            sum += in[blockIdx.x * blockDim.x + i];
        }
        slots[blockIdx.x] = sum; // <- A
    }
    __syncthreads();
    int before = 0;
    for (unsigned b = 0; b <= blockIdx.x; b++) {
        before += slots[b]; // <- A
    }
    grid.sync();
    const int last = slots[gridDim.x - 1];
    out[grid.thread_rank()] = before * last;
}
