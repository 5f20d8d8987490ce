// Smoothing of a rod whose ends are held: in each step, every inner cell becomes the mean of itself and its neighbours.
// Two buffers take turns, and all blocks meet between steps.
//
// Fixture: a barrier of the grid in a loop; a helper with the barrier; threads beyond the rod come to it, too.

#include <cooperative_groups.h>

using namespace cooperative_groups;

__device__ void meet(const grid_group &all)
{
    all.sync();
}

__global__ void grid_relax(int *a, int *b, int n, int steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *from = a, *to = b;
    for (int s = 0; s < steps; s++) {
        if (i > 0 && i < n - 1) {
            to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
        }
        meet(this_grid());
        int *next = from;
        from = to;
        to = next;
    }
}
