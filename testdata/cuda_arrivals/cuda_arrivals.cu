// Running sums of each block's eight elements, negated, in reverse order.
//
// Fixture: libcu++'s barrier of a block, at which threads arrive and wait by one call or by two; a copy that it waits for;
// the two steps of a cooperative group's barrier.

#include <cooperative_groups.h>
#include <cuda/barrier>

__global__ void running_sums(const int *in, int *out)
{
    __shared__ int tile[8];
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
    const unsigned t = block.thread_rank();
    if (t == 0) {
        init(&all, block.size());
    }
    block.sync();

    cuda::memcpy_async(&tile[t], &in[blockIdx.x * 8 + t], sizeof(int), all);
    all.arrive_and_wait();

    for (unsigned d = 1; d < 8; d *= 2) {
        int sum = tile[t];
        if (t >= d) {
            sum += tile[t - d];
        }
        auto token = all.arrive();
        all.wait(std::move(token));
        tile[t] = sum;
        all.wait(all.arrive());
    }

    tile[t] = -tile[t];
    auto arrival = block.barrier_arrive();
    block.barrier_wait(std::move(arrival));
    out[blockIdx.x * 8 + t] = tile[7 - t];
}
