// conformance: out=4096 global=256 local=64 options=-cl-std=CL3.0
// Broadcasts and shuffles of other types than int: char, half, double, vectors.
#pragma OPENCL EXTENSION cl_khr_subgroup_extended_types : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint lane = get_sub_group_local_id();
    char c = ((__global const char*)in)[g];
    int4 v = vload4(g & 63, (__global const int*)(in + 1536));
    __global int* to = (__global int*)out;
    to[g] = sub_group_shuffle_xor(c, 1) + sub_group_shuffle_xor((ushort)(c + 200), 2) * 3;
    to[256 + g] = (int)sub_group_shuffle_xor((double)c * 0.5, 3u) + (int)(sub_group_shuffle_xor((long)c << 33, 1u) >> 33);
    to[512 + g] = sub_group_non_uniform_broadcast(v, 0).y == sub_group_broadcast_first(v.y);
    to[768 + g] = sub_group_reduce_max((short)c) >= c && sub_group_all(lane < get_sub_group_size());
}
