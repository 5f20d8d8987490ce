/* Stream compaction: keeps the values of each work-group's block that lie in a range, in their order.
 *
 * A work-group marks its values, sums the marks by an inclusive scan in local memory (doubling strides) and scatters what
 * is kept to the front of its block of the output. Fixture for: barriers inside a loop, double-buffered local memory,
 * a short-circuit value that is no branch, an early decision that depends on the last work-item of a group.
 * The local size must be a power of two of at most 64.
 */

#define MAX_GROUP 64

__kernel void prefix_filter(__global const int *in, uint n, int low, int high, __global int *out, __global uint *kept)
{
    __local uint sums[2][MAX_GROUP];
    uint lid = get_local_id(0);
    uint size = get_local_size(0);
    uint gid = get_global_id(0);

    int value = 0;
    if (gid < n)
        value = in[gid];
    uint keep = gid < n && value >= low && value <= high;

    uint from = 0;
    sums[from][lid] = keep;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint stride = 1; stride < size; stride <<= 1) {
        uint sum = sums[from][lid];
        if (lid >= stride)
            sum += sums[from][lid - stride];
        from = 1 - from;
        sums[from][lid] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    uint first = get_group_id(0) * size;
    if (keep)
        out[first + sums[from][lid] - 1] = value;
    if (lid == size - 1)
        kept[get_group_id(0)] = sums[from][lid];
}
