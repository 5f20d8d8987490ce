// Tiles of eight lanes each loop as often as they have to.
// expect: clean
#include <cooperative_groups.h>

__global__ void tiles(const int *in, int *out)
{
    __shared__ int part[32];
    const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    const int t = threadIdx.x, first = t - tile.thread_rank();
    part[t] = in[t];
    for (int i = 0; i <= t / 8; i++) {
        tile.sync();
        const int next = part[first + (tile.thread_rank() + 1) % 8];
        tile.sync();
        part[t] = next + i;
    }
    out[t] = cooperative_groups::reduce(tile, part[t], cooperative_groups::plus<int>());
}
