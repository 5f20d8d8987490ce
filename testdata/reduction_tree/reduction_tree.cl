// Sum of each work-group's part of the input, by a tree in local memory; the host (or a second launch) adds the parts.
//
// Fixture: a local-pointer argument, barriers before and inside a loop, a decision by the local id, a guarded load.
// The work-group's size must be a power of two.

__kernel void reduction_tree(__global const int *in, __global int *partial, __local int *tile, const int n)
{
    const int lid = get_local_id(0);
    const int gid = get_global_id(0);

    tile[lid] = gid < n ? in[gid] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int stride = (int)get_local_size(0) / 2; stride > 0; stride >>= 1) {
        if (lid < stride) {
            tile[lid] += tile[lid + stride];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (lid == 0) {
        partial[get_group_id(0)] = tile[0];
    }
}
