// Sum of all elements in one launch: each block sums its part into a slot of its own, all blocks meet, and the first one
// sums the slots.
//
// Fixture: a barrier of the grid between two phases; what other blocks wrote before it is read after it.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void grid_sum(const int *in, int *slots, int *total, int n)
{
    cg::grid_group grid = cg::this_grid();
    int mine = 0;
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) {
        mine += in[i];
    }

    __shared__ int sum;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        slots[blockIdx.x] = sum;
    }

    grid.sync();

    if (grid.thread_rank() == 0) {
        int all = 0;
        for (unsigned b = 0; b < grid.num_blocks(); b++) {
            all += slots[b];
        }
        total[0] = all;
    }
}
