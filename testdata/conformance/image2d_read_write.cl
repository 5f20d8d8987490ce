// conformance: out=16 global=8x4 local=8x4 picture=8x4 formats=float options=-cl-std=CL2.0
// An image that is read and written in one kernel.
__kernel void calls(__global uchar* out, __global const uchar* in, __read_write image2d_t picture)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 v = read_imagef(picture, (int2)(x, y));
    work_group_barrier(CLK_IMAGE_MEM_FENCE);
    write_imagef(picture, (int2)(7 - x, y), v);
}
