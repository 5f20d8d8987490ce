// Counts how many samples fall into each of BINS equal bins of [low, high); what lies outside goes to two counters.
// Each work-group counts in local memory and adds its bins to the global ones at the end.
//
// Fixture: local and global atomics, strided loops whose lengths differ between work-items, a three-way decision.

#define BINS 24

__kernel void histogram_atomic(__global const int *samples, const uint count, const int low, const int high,
                               __global uint *bins, __global uint *outside)
{
    __local uint mine[BINS];
    const uint lid = get_local_id(0);
    const uint width = get_local_size(0);

    for (uint b = lid; b < BINS; b += width)
        mine[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        const int sample = samples[i];
        if (sample < low) {
            atomic_inc(&outside[0]);
        } else if (sample >= high) {
            atomic_inc(&outside[1]);
        } else {
            const uint b = (uint)(sample - low) * BINS / (uint)(high - low);
            atomic_inc(&mine[b]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint b = lid; b < BINS; b += width) {
        if (mine[b] != 0)
            atomic_add(&bins[b], mine[b]);
    }
}
