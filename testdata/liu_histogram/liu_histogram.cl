// How many elements fall into each of BINS classes, one histogram a work-group.
//
// Fixture: LIU's "Histogram" (tables 7.3 to 7.8), without atomics: each work-item counts in a row of its own, and behind a
// barrier the work-items add up columns. A work-group has at most MAX_GROUP work-items.

#define BINS 8
#define MAX_GROUP 16

__kernel void liu_histogram(__global const uint *data, __global uint *histograms, const uint n)
{
    __local uint rows[MAX_GROUP][BINS];
    uint lid = get_local_id(0);
    uint first = get_group_id(0) * get_local_size(0) + lid;
    for (uint b = 0; b < BINS; b++)
        rows[lid][b] = 0;
    for (uint i = first; i < n; i += get_global_size(0))
        rows[lid][data[i] & 7]++;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint b = lid; b < BINS; b += get_local_size(0)) {
        uint sum = 0;
        for (uint row = 0; row < get_local_size(0); row++)
            sum += rows[row][b];
        histograms[get_group_id(0) * BINS + b] = sum;
    }
}
