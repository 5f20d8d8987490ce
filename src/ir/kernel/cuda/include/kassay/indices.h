/* `threadIdx` and its kin: objects whose members are read by OpenCL's functions for ids. */
#pragma once
#include <kassay/vectors.h>

extern "C" __device__ size_t __kassay_local_id(unsigned) KASSAY_COMPUTES("_Z12get_local_idj");
extern "C" __device__ size_t __kassay_linear_id() KASSAY_COMPUTES("_Z19get_local_linear_idv");
extern "C" __device__ size_t __kassay_group_id(unsigned) KASSAY_COMPUTES("_Z12get_group_idj");
extern "C" __device__ size_t __kassay_local_size(unsigned) KASSAY_COMPUTES("_Z14get_local_sizej");
extern "C" __device__ size_t __kassay_num_groups(unsigned) KASSAY_COMPUTES("_Z14get_num_groupsj");

#define KASSAY_INDEX(NAME, QUERY, CLASS)                                                                               \
    struct CLASS {                                                                                                     \
        __declspec(property(get = get_x)) unsigned x;                                                                  \
        __declspec(property(get = get_y)) unsigned y;                                                                  \
        __declspec(property(get = get_z)) unsigned z;                                                                  \
        static KASSAY_DEVICE_MEMBER unsigned get_x() { return (unsigned)QUERY(0); }                                    \
        static KASSAY_DEVICE_MEMBER unsigned get_y() { return (unsigned)QUERY(1); }                                    \
        static KASSAY_DEVICE_MEMBER unsigned get_z() { return (unsigned)QUERY(2); }                                    \
        KASSAY_DEVICE_MEMBER operator dim3() const { return dim3(get_x(), get_y(), get_z()); }                         \
        KASSAY_DEVICE_MEMBER operator uint3() const { return uint3{get_x(), get_y(), get_z()}; }                       \
    };                                                                                                                 \
    extern const __device__ __attribute__((weak)) CLASS NAME;
KASSAY_INDEX(threadIdx, __kassay_local_id, __kassay_thread_index)
KASSAY_INDEX(blockIdx, __kassay_group_id, __kassay_block_index)
KASSAY_INDEX(blockDim, __kassay_local_size, __kassay_block_size)
KASSAY_INDEX(gridDim, __kassay_num_groups, __kassay_grid_size)
static const int warpSize = 32;
