// conformance: out=2048 global=16x16 local=8x4 values=uint options=-cl-std=CL2.0
// Linear numbers, enqueued sizes.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    uint at = get_global_linear_id();
    ((__global uint*)out)[at] = get_local_linear_id() * 1000 + get_enqueued_local_size(0) * 10 + get_enqueued_local_size(1);
    ((__global uint*)out)[256 + get_global_id(1) * 16 + get_global_id(0)] = at;
}
