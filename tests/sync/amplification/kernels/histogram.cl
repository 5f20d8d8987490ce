// Counting bytes, one row of counters a work-item ("histogram"), and adding up partial histograms.

#define BINS 64
#define GROUP 16

kernel void count_bytes(global const uchar *data, global uint *partial, uint n)
{
    local uchar counters[GROUP][BINS];
    uint lid = get_local_id(0);

    for (uint b = 0; b < BINS; b++)
        counters[lid][b] = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        counters[lid][data[i] >> 2]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = lid; b < BINS; b += GROUP) {
        uint sum = 0;
        for (uint row = 0; row < GROUP; row++)
            sum += counters[row][b];
        partial[get_group_id(0) * BINS + b] = sum;
    }
}

kernel void merge_histograms(global const uint *partial, global uint *histogram, uint count, local uint *sums)
{
    uint lid = get_local_id(0);
    uint sum = 0;

    for (uint i = lid; i < count; i += get_local_size(0))
        sum += partial[i * BINS + get_group_id(0)];
    sums[lid] = sum;
    for (uint stride = get_local_size(0) / 2; stride > 0; stride >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < stride)
            sums[lid] += sums[lid + stride];
    }
    if (lid == 0)
        histogram[get_group_id(0)] = sums[0];
}
