// A bitonic network over one group's keys ("sortingNetworks"), with the exchange as a branch and as a choice of values.

kernel void sort_by_branch(global uint *keys, local uint *block, uint up)
{
    uint lid = get_local_id(0);
    uint size = 2 * get_local_size(0);

    block[lid] = keys[lid];
    block[lid + size / 2] = keys[lid + size / 2];
    for (uint run = 2; run <= size; run <<= 1) {
        uint direction = ((lid & (run / 2)) == 0) == (up != 0);
        for (uint gap = run / 2; gap > 0; gap >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint low = 2 * lid - (lid & (gap - 1));
            if ((block[low] > block[low + gap]) == direction) {
                uint held = block[low];
                block[low] = block[low + gap];
                block[low + gap] = held;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[lid] = block[lid];
    keys[lid + size / 2] = block[lid + size / 2];
}

kernel void sort_by_choice(global uint *keys, local uint *block, uint up)
{
    uint lid = get_local_id(0);
    uint size = 2 * get_local_size(0);

    block[lid] = keys[lid];
    block[lid + size / 2] = keys[lid + size / 2];
    for (uint run = 2; run <= size; run <<= 1) {
        uint direction = ((lid & (run / 2)) == 0) == (up != 0);
        for (uint gap = run / 2; gap > 0; gap >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint low = 2 * lid - (lid & (gap - 1));
            uint a = block[low];
            uint b = block[low + gap];
            uint swap = (a > b) == direction;
            block[low] = swap * b + (1 - swap) * a;
            block[low + gap] = swap * a + (1 - swap) * b;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[lid] = block[lid];
    keys[lid + size / 2] = block[lid + size / 2];
}

// One step of a merge network over the whole array.
kernel void merge_by_branch(global uint *keys, uint size, uint gap)
{
    uint i = get_global_id(0);
    uint low = 2 * i - (i & (gap - 1));

    if (low + gap < size && keys[low] > keys[low + gap]) {
        uint held = keys[low];
        keys[low] = keys[low + gap];
        keys[low + gap] = held;
    }
}

kernel void merge_by_choice(global uint *keys, uint size, uint gap)
{
    uint i = get_global_id(0);
    uint low = 2 * i - (i & (gap - 1));

    if (low + gap < size) {
        uint a = keys[low];
        uint b = keys[low + gap];
        keys[low] = min(a, b);
        keys[low + gap] = max(a, b);
    }
}
