// Looks values up in a sorted table, which has to hold each of them.
//
// Fixture: assertions that hold, a trap that no work-item comes to, an assertion in a helper.
#include <cassert>

__device__ int find(const int *table, int n, int key)
{
    int low = 0, high = n;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        assert(low < middle && middle < high);
        if (table[middle] <= key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (table[low] != key) {
        __trap();
    }
    return low;
}

__global__ void positions(const int *table, int n, const int *key, int *at, int count)
{
    assert(n > 0);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        at[i] = find(table, n, key[i]);
    }
}
