// Weighted moving average over 2 * RADIUS + 1 neighbours; beyond the ends of the line the field counts as zero.
// The work-group stages its part of the line, with a halo on both sides, in local memory.
//
// Fixture: halo loads by a part of the group, one barrier, a small constant table as an argument, a fixed-length loop.

#define RADIUS 3

__kernel void stencil_1d(__global const float *in, __global float *out, __constant float *weight, __local float *line,
                         const int n)
{
    const int gid = get_global_id(0);
    const int lid = get_local_id(0);
    const int width = get_local_size(0);
    const int at = lid + RADIUS;

    line[at] = (gid < n) ? in[gid] : 0.0f;
    if (lid < RADIUS) {
        const int before = gid - RADIUS;
        const int after = gid + width;
        line[lid] = (before >= 0 && before < n) ? in[before] : 0.0f;
        line[at + width] = (after < n) ? in[after] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (gid >= n)
        return;

    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; ++k)
        sum += weight[k + RADIUS] * line[at + k];
    out[gid] = sum;
}
