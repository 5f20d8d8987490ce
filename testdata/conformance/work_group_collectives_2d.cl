// conformance: out=2048 global=16x16 local=8x4 options=-cl-std=CL2.0
// Collectives of a group of two dimensions follow its linear numbers.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_linear_id();
    int x = (in + 256)[g];
    ((__global int*)out)[g] = work_group_scan_inclusive_add(x) * 4 + work_group_all(x > 3);
    ((__global int*)out)[256 + g] = work_group_broadcast(x, 3, 2) + work_group_reduce_max(x) * 1000;
}
