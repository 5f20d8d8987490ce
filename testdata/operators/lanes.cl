// Reverses what each sub-group loads by memory that its work-items share, and then has each one read what it wrote itself.
//
// Fixture: SCR, an example that the simulator finds and one that survives.

#define GROUP 32

__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void lanes(__global const int *in, __global int *out)
{
    __local int tile[GROUP];
    const int lane = get_sub_group_local_id();
    const int gid = get_global_id(0);

    tile[lane] = in[gid];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    const int other = tile[get_sub_group_size() - 1 - lane];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    tile[lane] = other + 1;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[gid] = tile[lane];
}
