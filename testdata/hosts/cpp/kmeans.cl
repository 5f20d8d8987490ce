// Kernels of kmeans.cpp.

#ifndef CLUSTERS
#error "the host defines CLUSTERS"
#endif

// The nearest centre of each point; ties go to the first.
kernel void assign(global const int2 *points, constant int2 *centres, global uchar *cluster, global uint *moved, uint count)
{
    uint i = get_global_id(0);
    if (i >= count)
        return;
    uint nearest = UINT_MAX;
    uchar best = 0;
    for (uchar c = 0; c < CLUSTERS; c++) {
        int2 d = points[i] - centres[c];
        uint square = d.x * d.x + d.y * d.y;
        if (square < nearest) {
            nearest = square;
            best = c;
        }
    }
    if (cluster[i] != best) {
        cluster[i] = best;
        atomic_inc(moved);
    }
}

// Sums of the coordinates and number of points of each cluster, first in local memory.
kernel void accumulate(global const int2 *points, global const uchar *cluster, global int *sums, uint count)
{
    local int part[CLUSTERS * 3];
    uint l = get_local_id(0), i = get_global_id(0);
    for (uint k = l; k < CLUSTERS * 3; k += get_local_size(0))
        part[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < count) {
        uint c = cluster[i];
        atomic_add(&part[c * 3], points[i].x);
        atomic_add(&part[c * 3 + 1], points[i].y);
        atomic_inc(&part[c * 3 + 2]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = l; k < CLUSTERS * 3; k += get_local_size(0))
        atomic_add(&sums[k], part[k]);
}
