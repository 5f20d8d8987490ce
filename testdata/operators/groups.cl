// Turns the order within each work-group, counts turns of all work-items, and marks each group.
//
// Fixture: operators on what OpenCL adds to C (SYR, FR, BFR, AR, AOP, GIR, GII, GID, SHR, AS), an example each that is killed and
// one that survives, as far as a device shows them.

#define GROUP 16

__kernel void groups(__global const int *in, __global int *out, __global int *counter, __global int *first, const int turns)
{
    __local int tile[GROUP];
    __local int own[GROUP];
    const int lid = get_local_id(0);
    const int gid = get_global_id(0);

    own[lid] = in[gid];
    mem_fence(CLK_LOCAL_MEM_FENCE);
    tile[lid] = own[lid];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[gid] = tile[get_local_size(0) - 1 - lid];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = 0; t < turns; t++)
        atomic_add(&counter[0], 1);
    atomic_add(&counter[1 + get_global_id(0)], 0);
    if (get_local_id(0) == 0)
        first[1 + get_group_id(0)] = 7;
}
