// Exchanges what neighbours in a sub-group load, by memory that they share, and then has each one read what it wrote itself.
// However large sub-groups are, each has a part of the memory.
// Fixture: SCR, an example that the simulator finds and one that survives.

#define GROUP 32

__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void lanes(__global const int *in, __global int *out)
{
    __local int tile[GROUP];
    const int base = get_sub_group_id() * get_max_sub_group_size(), lane = get_sub_group_local_id();
    const int gid = get_global_id(0);

    tile[base + lane] = in[gid];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    const int other = tile[base + ((lane ^ 1) < (int)get_sub_group_size() ? lane ^ 1 : lane)];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    tile[base + lane] = other + 1;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[gid] = tile[base + lane];
}
