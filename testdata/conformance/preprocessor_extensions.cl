// conformance: out=64 global=1 local=1 options=-cl-std=CL3.0
// Macros of extensions and of OpenCL C 3.0's features.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global int* to = (__global int*)out;
#ifdef cl_khr_subgroups
    to[0] = 1;
#endif
#ifdef cl_khr_subgroup_shuffle
    to[1] = 1;
#endif
#ifdef __opencl_c_generic_address_space
    to[2] = 1;
#endif
#ifdef __opencl_c_work_group_collective_functions
    to[3] = 1;
#endif
#ifdef __opencl_c_fp64
    to[4] = 1;
#endif
#ifdef __opencl_c_integer_dot_product_input_4x8bit_packed
    to[5] = 1;
#endif
#ifdef __opencl_c_images
    to[6] = 1;
#endif
#ifdef __opencl_c_atomic_scope_device
    to[7] = 1;
#endif
#ifdef __opencl_c_pipes
    to[8] = 1;
#endif
#ifdef __opencl_c_program_scope_global_variables
    to[9] = 1;
#endif
#ifdef cl_khr_depth_images
    to[10] = 1;
#endif
#ifdef __opencl_c_read_write_images
    to[11] = 1;
#endif
#ifdef cl_intel_subgroups
    to[12] = 1;
#endif
}
