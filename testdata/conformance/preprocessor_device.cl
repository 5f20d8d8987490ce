// conformance: out=64 global=1 local=1
// Macros that say what the device has, and OpenCL C's names of limits.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global int* to = (__global int*)out;
#if __OPENCL_VERSION__ >= 120
    to[0] = 1;
#else
    to[0] = 2;
#endif
#ifdef __IMAGE_SUPPORT__
    to[1] = 1;
#endif
#ifdef cl_khr_fp64
    to[2] = 1;
#endif
#ifdef cl_khr_fp16
    to[3] = 1;
#endif
#ifdef __FAST_RELAXED_MATH__
    to[4] = 1;
#endif
#ifdef FP_FAST_FMAF
    to[5] = 1;
#endif
#if defined(cl_khr_global_int32_base_atomics) && defined(cl_khr_byte_addressable_store)
    to[6] = 1;
#endif
#ifdef cl_khr_int64_base_atomics
    to[7] = 1;
#endif
    to[8] = CL_VERSION_1_2;
}
