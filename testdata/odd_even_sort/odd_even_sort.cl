// Sorts each work-group's block of keys by odd-even transposition, one key a work-item, until a whole double round
// exchanges nothing. Keys beyond `n` count as the largest int and are not written back.
//
// Fixture: a do-while loop that ends by a vote in local memory, barriers in it, a static __local flag.

__kernel void odd_even_sort(__global int *keys, __local int *block, const int n)
{
    __local int exchanged;
    const int lid = get_local_id(0);
    const int gid = get_global_id(0);
    const int last = (int)get_local_size(0) - 1;
    int again;

    block[lid] = gid < n ? keys[gid] : INT_MAX;

    do {
        if (lid == 0)
            exchanged = 0;
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int parity = 0; parity < 2; ++parity) {
            if ((lid & 1) == parity && lid < last) {
                const int left = block[lid];
                const int right = block[lid + 1];
                if (left > right) {
                    block[lid] = right;
                    block[lid + 1] = left;
                    atomic_or(&exchanged, 1);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }

        again = exchanged;
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (again);

    if (gid < n)
        keys[gid] = block[lid];
}
