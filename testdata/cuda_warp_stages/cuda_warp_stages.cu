// Three ways in which lanes of a warp exchange values through shared memory: a scan in steps, rows of a tile turned around,
// and what those lanes hold that have come to a branch.
//
// Fixture: barriers of warps (`SCR`), as a call, of tiles and of coalesced threads. Without one of those that are needed, lanes
// race; the second one of the tile and the last one order nothing that others do not.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define BLOCK 64

__device__ void exclusive_scan(int *warp, int lane)
{
    for (int d = 1; d < 32; d *= 2) {
        const int before = lane >= d ? warp[lane - d] : 0;
        __syncwarp();
        warp[lane] += before;
        __syncwarp();
    }
}

__global__ void stages(const int *in, int *scans, int *turned, int *odd)
{
    __shared__ int shared[BLOCK];
    const int t = threadIdx.x;
    const int i = blockIdx.x * BLOCK + t;
    const int lane = t % 32;
    int *warp = &shared[t - lane];

    warp[lane] = in[i];
    __syncwarp(0xffffffff);
    exclusive_scan(warp, lane);
    scans[i] = warp[lane] - in[i];

    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int rank = tile.thread_rank();
    warp[lane] = in[i];
    tile.sync();
    turned[i] = warp[lane - rank + 7 - rank];
    cg::sync(tile);
    __syncwarp();

    if (in[i] % 2 != 0) {
        cg::coalesced_group those = cg::coalesced_threads();
        warp[those.thread_rank()] = in[i];
        those.sync();
        odd[i] = warp[those.size() - 1 - those.thread_rank()];
    } else {
        odd[i] = 0;
    }
    __syncwarp();
}
