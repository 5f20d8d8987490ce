// conformance: out=1024 global=256 local=64 options=-cl-std=CL3.0
// Collectives of those work-items of a sub-group that take a branch, summed up over the group.
#pragma OPENCL EXTENSION cl_khr_subgroup_non_uniform_arithmetic : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_non_uniform_vote : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int total;
    size_t g = get_global_id(0), l = get_local_id(0);
    if (l == 0) total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = ((__global const short*)(in + 512))[g];
    if (get_sub_group_local_id() & 1) {
        int sum = sub_group_non_uniform_reduce_add(x), before = sub_group_non_uniform_scan_exclusive_add(1);
        if (sub_group_elect() && before == 0) atomic_add(&total, sum);
        if (sub_group_non_uniform_all(x > 40000) || !sub_group_non_uniform_any(x < 40000)) atomic_add(&total, 1000000);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global int*)out)[g] = total;
}
