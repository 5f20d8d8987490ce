// For each block of the input: its sum and its greatest element with the place, the sum before each element, and the
// elements in order.
//
// Fixture: collectives of CUB with two items a thread, storage that several of them share, arrays by reference, and a
// partly filled block. What CUB does within is no code of this file.

#include <cub/cub.cuh>

constexpr int BLOCK = 4;
constexpr int ITEMS = 2;

typedef cub::KeyValuePair<int, int> Best;

__global__ void summarise(const int *in, int *before, int *sorted, int *sums, int2 *best, int n)
{
    typedef cub::BlockLoad<int, BLOCK, ITEMS, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<int, BLOCK, ITEMS> Store;
    typedef cub::BlockScan<int, BLOCK> Scan;
    typedef cub::BlockReduce<Best, BLOCK> Reduce;
    typedef cub::BlockRadixSort<int, BLOCK, ITEMS> Sort;
    __shared__ union {
        Load::TempStorage load;
        Store::TempStorage store;
        Scan::TempStorage scan;
        Reduce::TempStorage reduce;
        Sort::TempStorage sort;
    } storage;
    // The collectives are of this size.
    if (blockDim.x != BLOCK)
        return;

    const int first = blockIdx.x * BLOCK * ITEMS;
    const int left = min(n - first, BLOCK * ITEMS);
    int items[ITEMS], sums_before[ITEMS];
    Load(storage.load).Load(in + first, items, left, 0);
    __syncthreads();

    int total;
    Scan(storage.scan).ExclusiveSum(items, sums_before, total);
    Store(storage.store).Store(before + first, sums_before, left);
    __syncthreads();

    Best own(Best{(int)threadIdx.x * ITEMS, items[0]});
    if (items[1] > items[0])
        own = Best{(int)threadIdx.x * ITEMS + 1, items[1]};
    const Best greatest = Reduce(storage.reduce).Reduce(own, cub::ArgMax());
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
        best[blockIdx.x] = make_int2(greatest.key, greatest.value);
    }
    __syncthreads();

    Sort(storage.sort).SortDescending(items);
    Store(storage.store).Store(sorted + first, items, left);
}
