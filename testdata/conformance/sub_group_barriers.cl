// conformance: out=2048 global=256 local=64 options=-cl-std=CL3.0
// sub_group_barrier in loops that sub-groups run for different times: no barrier of the work-group.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    uint lane = get_sub_group_local_id(), n = get_sub_group_size(), first = (uint)l - lane;
    int sum = 0;
    for (uint i = 0; i <= get_sub_group_id(); i++) {
        tile[l] = ((__global const short*)(in + 512))[g] + (int)i;
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[first + (lane ^ 1)] - (int)i;
        sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_sub_group);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global int*)out)[g] = sum / (int)(get_sub_group_id() + 1);
    ((__global int*)out)[256 + g] = n > 1;
}
