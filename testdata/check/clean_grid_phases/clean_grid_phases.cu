// Each block reads what another one wrote before all blocks met, and writes again where others read, after they met once
// more; shared memory is in order, too.
// expect: clean all-interleavings
#include <cooperative_groups.h>

__global__ void phases(int *a, int *b)
{
    __shared__ int tile[4];
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const unsigned n = grid.size(), i = grid.thread_rank();
    tile[threadIdx.x] = (int)i;
    a[i] = (int)(10 * i);
    grid.sync();
    b[i] = a[n - 1 - i] + tile[3 - threadIdx.x];
    cooperative_groups::sync(grid);
    a[i] = b[(i + 4) % n];
}
