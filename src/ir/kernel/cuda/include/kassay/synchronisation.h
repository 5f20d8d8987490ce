/* Barriers and fences. */
#pragma once
#include <kassay/attributes.h>

extern "C" KASSAY_WAITS void __kassay_barrier(unsigned) KASSAY_AS("_Z7barrierj");
extern "C" KASSAY_WAITS int __kassay_group_sum(int) KASSAY_AS("_Z21work_group_reduce_addi");
extern "C" KASSAY_WAITS int __kassay_group_all(int) KASSAY_AS("_Z14work_group_alli");
extern "C" KASSAY_WAITS int __kassay_group_any(int) KASSAY_AS("_Z14work_group_anyi");
extern "C" __device__ void __kassay_fence(unsigned, int, int) KASSAY_AS("_Z22atomic_work_item_fencej12memory_order12memory_scope");

/* Local and global memory, as OpenCL's flags have them; orders and scopes are clang's numbers. */
#define KASSAY_ALL_MEMORY 3
KASSAY_INNER void __syncthreads() { __kassay_barrier(KASSAY_ALL_MEMORY); }
KASSAY_INNER int __syncthreads_count(int p) { __kassay_barrier(KASSAY_ALL_MEMORY); return __kassay_group_sum(p != 0); }
KASSAY_INNER int __syncthreads_and(int p) { __kassay_barrier(KASSAY_ALL_MEMORY); return __kassay_group_all(p != 0); }
KASSAY_INNER int __syncthreads_or(int p) { __kassay_barrier(KASSAY_ALL_MEMORY); return __kassay_group_any(p != 0); }
KASSAY_INNER void __threadfence_block() { __kassay_fence(KASSAY_ALL_MEMORY, __ATOMIC_SEQ_CST, 1); }
KASSAY_INNER void __threadfence() { __kassay_fence(KASSAY_ALL_MEMORY, __ATOMIC_SEQ_CST, 2); }
KASSAY_INNER void __threadfence_system() { __kassay_fence(KASSAY_ALL_MEMORY, __ATOMIC_SEQ_CST, 3); }
