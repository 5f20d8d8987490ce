// Sorts each work-group's block of keys in local memory by a bitonic network, two keys a work-item; `ascending` gives
// the order of the whole. The block's size is a power of two and twice the work-group's size.
//
// Fixture: nested loops with a barrier, exchange by a helper on local pointers, a decision on two booleans (`!=`).

static void exchange(__local uint *low, __local uint *high, const bool up)
{
    const uint a = *low;
    const uint b = *high;

    if ((a > b) == up) {
        *low = b;
        *high = a;
    }
}

__kernel void bitonic_sort(__global uint *keys, __local uint *block, const int ascending)
{
    const uint lid = get_local_id(0);
    const uint half_size = get_local_size(0);
    const uint size = 2 * half_size;
    const uint base = get_group_id(0) * size;

    block[lid] = keys[base + lid];
    block[lid + half_size] = keys[base + lid + half_size];

    for (uint run = 2; run <= size; run <<= 1) {
        const bool up = ((lid & (run / 2)) == 0) == (ascending != 0);

        for (uint gap = run / 2; gap > 0; gap >>= 1) {
            const uint low = 2 * lid - (lid & (gap - 1));
            barrier(CLK_LOCAL_MEM_FENCE);
            exchange(block + low, block + low + gap, up);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    keys[base + lid] = block[lid];
    keys[base + lid + half_size] = block[lid + half_size];
}
