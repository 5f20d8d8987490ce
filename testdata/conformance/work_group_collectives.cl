// conformance: out=8192 global=256 local=64 options=-cl-std=CL2.0
// Reductions, scans, broadcasts and votes of a work-group.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0), l = get_local_id(0);
    int x = ((__global const short*)(in + 512))[g];
    long wide = ((__global const long*)(in + 3584))[g];
    __global int* to = (__global int*)out;
    to[g] = work_group_reduce_add(x) + work_group_reduce_min(x) * 3;
    to[256 + g] = work_group_reduce_max((uint)x) ^ (uint)work_group_reduce_max(wide);
    to[512 + g] = work_group_scan_inclusive_add(x) + work_group_scan_exclusive_add(x) * 3;
    to[768 + g] = work_group_scan_inclusive_max(x) - work_group_scan_exclusive_min(x);
    to[1024 + g] = work_group_all(x > -40000) + work_group_all(x > 0) * 2 + work_group_any(x == 1) * 4 + work_group_any(l == 5) * 8;
    to[1280 + g] = work_group_broadcast(x, 17);
    to[1536 + g] = (int)work_group_scan_exclusive_min((ulong)wide) + (int)work_group_scan_inclusive_add(wide);
    to[1792 + g] = as_int(work_group_reduce_add((float)(x & 255))) + as_int(work_group_scan_inclusive_max((float)x));
}
