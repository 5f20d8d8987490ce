// Adds to each sample its neighbour's within the work-group, exchanged through local memory; optionally smooths again.
//
// Fixture: a fault left in on purpose: work-items beyond `n` return before the barriers, so a group that is only partly
// filled diverges there. It is harmless where n is a multiple of the group's size.

__kernel void divergent_exit(__global const int *in, __global int *out, __local int *tile, const int n, const int twice)
{
    const int gid = get_global_id(0);
    const int lid = get_local_id(0);

    if (gid >= n)
        return;

    tile[lid] = in[gid];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = tile[lid] + tile[lid ^ 1];

    if (twice) {
        tile[lid] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[lid ^ 1];
    }
    out[gid] = sum;
}
