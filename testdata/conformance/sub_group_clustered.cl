// conformance: out=4096 global=256 local=64 options=-cl-std=CL3.0
// Reductions of clusters of four and rotation within them, whatever the sub-group's size.
#pragma OPENCL EXTENSION cl_khr_subgroup_clustered_reduce : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_rotate : enable

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = ((__global const short*)(in + 512))[g];
    __global int* to = (__global int*)out;
    to[g] = sub_group_clustered_reduce_add(x, 4) + sub_group_clustered_reduce_max(x, 2) * 3;
    to[256 + g] = sub_group_clustered_reduce_xor((uint)x, 4) + sub_group_clustered_reduce_min((long)x, 4) * 5;
    to[512 + g] = sub_group_clustered_rotate(x, 1, 4);
    to[768 + g] = sub_group_clustered_reduce_logical_or(x > 0, 4) + (int)sub_group_clustered_reduce_mul((float)(x & 3), 4) * 2;
}
