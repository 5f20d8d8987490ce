// conformance: out=2048 global=256 local=64 options=-cl-std=CL3.0
// What sub-groups give whatever their size: each is seen only through sums and scans that are then made comparable.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int total, groups, firsts;
    size_t g = get_global_id(0), l = get_local_id(0);
    if (l == 0) total = groups = firsts = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = ((__global const short*)(in + 512))[g];
    int sum = sub_group_reduce_add(x), before = sub_group_scan_exclusive_add(1), last = sub_group_reduce_max(before);
    int first = sub_group_broadcast(x, 0);
    bool leader = get_sub_group_local_id() == 0;
    if (leader) {
        atomic_add(&total, sum);
        atomic_inc(&groups);
        if (first == x) atomic_inc(&firsts);
    }
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    int right = groups == (int)get_num_sub_groups() && firsts == groups && before == (int)get_sub_group_local_id();
    right &= last + 1 == (int)get_sub_group_size() && get_sub_group_size() <= get_max_sub_group_size();
    right &= get_sub_group_id() < get_num_sub_groups() && sub_group_all(x < 40000) && !sub_group_any(x > 40000);
    ((__global int*)out)[g] = total;
    ((__global int*)out)[256 + g] = right;
}
