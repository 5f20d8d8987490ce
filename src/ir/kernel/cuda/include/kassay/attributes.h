/* CUDA's qualifiers, and those with which these headers declare their own functions.
 *
 * A function whose work one builtin of OpenCL does is declared with that builtin's mangled name, so that the call in the
 * user's line is the builtin. Every other one has a body that is inlined and has no lines (INNER): coverage and mutants
 * are those of the user's code. What kassay lacks is declared under a name that begins with `cuda.`, and is refused where
 * a kernel calls it. */
#pragma once

/* clang's number for SPIR-V is 1, with which programs take the way of devices without doubles and atomics. */
#if __CUDA_ARCH__ == 1
#undef __CUDA_ARCH__
#define __CUDA_ARCH__ 800
#endif

/* Which compiler a source meets: HIP's for files of its own (`compile.rs`), otherwise CUDA's. */
#ifndef __HIPCC__
#define __CUDACC__ 1
#endif

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(N)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __grid_constant__
#define __forceinline__ inline
#define __inline_hint__
#define __host_device__ __host__ __device__
#define __align__(N) __attribute__((aligned(N)))
#define __builtin_align__(N) __attribute__((aligned(N)))
#define __device_builtin__
#define __cudart_builtin__
#define __CUDA_RUNTIME_H__
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDART_DEVICE
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040

#define KASSAY_INNER static __inline__ __attribute__((device, always_inline, nodebug))
#define KASSAY_BOTH static __inline__ __attribute__((host, device, always_inline, nodebug))
#define KASSAY_MEMBER __attribute__((host, device, always_inline, nodebug)) inline
#define KASSAY_DEVICE_MEMBER __attribute__((device, always_inline, nodebug)) inline
#define KASSAY_WAITS __device__ __attribute__((convergent))
#define KASSAY_AS(NAME) __asm__(NAME)
/* A builtin that only computes, of its arguments alone, which OpenCL's headers say as well: proofs build on it. */
#define KASSAY_COMPUTES(NAME) __asm__(NAME) __attribute__((const))
#define KASSAY_ABSENT(NAME) __asm__("cuda." NAME)

typedef __SIZE_TYPE__ size_t;
/* Before all other headers, because clang's own of `new` calls them. */
__device__ void *malloc(size_t) KASSAY_ABSENT("malloc");
__device__ void free(void *) KASSAY_ABSENT("free");
