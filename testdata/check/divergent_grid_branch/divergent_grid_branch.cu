// Even blocks wait for the grid at one place, odd ones at another.
// expect: divergent
// finding A: barrier-divergence
#include <cooperative_groups.h>

__global__ void twofold(int *p)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (blockIdx.x % 2 == 0) {
        p[grid.thread_rank()] = 1;
        grid.sync(); // <- A
    } else {
        p[grid.thread_rank()] = 2;
        grid.sync(); // <- A
    }
}
