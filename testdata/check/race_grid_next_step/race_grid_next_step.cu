// One barrier of the grid in a step is too few: the next step overwrites what blocks that are behind still read.
// expect: racy
// finding A: data-race inter-group global row
#include <cooperative_groups.h>

__global__ void shift(int *row, int n, int steps)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int i = (int)grid.thread_rank();
    for (int s = 0; s < steps; s++) {
        const int left = row[(i + n - 1) % n]; // <- A
        __syncthreads();
        row[i] = left + s; // <- A
        grid.sync();
    }
}
