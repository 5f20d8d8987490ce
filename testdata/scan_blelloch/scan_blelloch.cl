// Exclusive prefix sum of each work-group's block (work-efficient: up-sweep, then down-sweep), two elements a work-item.
// Each block's total goes to `totals`, from which a second launch would make the blocks' offsets.
//
// Fixture: two loops with barriers and a loop-carried stride, a private temporary, a null-like switch (`keep_totals`).
// The work-group's size must be a power of two; the block has twice as many elements.

__kernel void scan_blelloch(__global const uint *in, __global uint *out, __global uint *totals, __local uint *block,
                            const int keep_totals)
{
    const uint lid = get_local_id(0);
    const uint size = 2 * get_local_size(0);
    const uint base = get_group_id(0) * size;
    uint offset = 1;

    block[2 * lid] = in[base + 2 * lid];
    block[2 * lid + 1] = in[base + 2 * lid + 1];

    for (uint active = size / 2; active > 0; active /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < active) {
            const uint left = offset * (2 * lid + 1) - 1;
            const uint right = offset * (2 * lid + 2) - 1;
            block[right] += block[left];
        }
        offset *= 2;
    }

    if (lid == 0) {
        if (keep_totals) {
            totals[get_group_id(0)] = block[size - 1];
        }
        block[size - 1] = 0;
    }

    for (uint active = 1; active < size; active *= 2) {
        offset /= 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < active) {
            const uint left = offset * (2 * lid + 1) - 1;
            const uint right = offset * (2 * lid + 2) - 1;
            const uint held = block[left];
            block[left] = block[right];
            block[right] += held;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    out[base + 2 * lid] = block[2 * lid];
    out[base + 2 * lid + 1] = block[2 * lid + 1];
}
