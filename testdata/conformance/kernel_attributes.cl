// conformance: out=1024 global=256 local=64
// Attributes of kernels and loops; several kernels and unused functions in one file.
__kernel void unused(__global float* x) { x[get_global_id(0)] = sin(x[0]); }

__attribute__((reqd_work_group_size(64, 1, 1))) __attribute__((vec_type_hint(float4)))
__kernel void calls(__global uchar* restrict out, __global const uchar* restrict in)
{
    size_t g = get_global_id(0);
    int r = 0;
    __attribute__((opencl_unroll_hint(4)))
    for (int i = 0; i < 12; i++)
        r += (in + 256)[(g + i) & 255] << i;
    #pragma unroll
    for (int i = 0; i < 4; i++)
        r ^= i * r & 0xFFFF;
    ((__global int*)out)[g] = r + get_local_size(0);
}
