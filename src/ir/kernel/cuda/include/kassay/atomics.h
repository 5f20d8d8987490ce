/* Atomics. Those of integers with the scope of a device are OpenCL's builtins; the others are LLVM's instructions. All are
 * relaxed. */
#pragma once
#include <kassay/attributes.h>

/* L: the letter of the type in mangled names. The pointer's address space is corrected where it is known (builtins.cpp). */
#define KASSAY_BUILTIN_ATOMIC(NAME, T, SYMBOL, L) __device__ T NAME(T *, T) KASSAY_AS("_Z" SYMBOL "PU3AS4V" L L);
#define KASSAY_ATOMICS_32(T, L)                                                                                        \
    KASSAY_BUILTIN_ATOMIC(atomicAdd, T, "10atomic_add", L) KASSAY_BUILTIN_ATOMIC(atomicSub, T, "10atomic_sub", L)      \
    KASSAY_BUILTIN_ATOMIC(atomicMin, T, "10atomic_min", L) KASSAY_BUILTIN_ATOMIC(atomicMax, T, "10atomic_max", L)      \
    KASSAY_BUILTIN_ATOMIC(atomicAnd, T, "10atomic_and", L) KASSAY_BUILTIN_ATOMIC(atomicOr, T, "9atomic_or", L)         \
    KASSAY_BUILTIN_ATOMIC(atomicXor, T, "10atomic_xor", L) KASSAY_BUILTIN_ATOMIC(atomicExch, T, "11atomic_xchg", L)    \
    __device__ T atomicCAS(T *, T, T) KASSAY_AS("_Z14atomic_cmpxchgPU3AS4V" L L L);
#define KASSAY_ATOMICS_64(T, L)                                                                                        \
    KASSAY_BUILTIN_ATOMIC(atomicAdd, T, "8atom_add", L) KASSAY_BUILTIN_ATOMIC(atomicSub, T, "8atom_sub", L)            \
    KASSAY_BUILTIN_ATOMIC(atomicMin, T, "8atom_min", L) KASSAY_BUILTIN_ATOMIC(atomicMax, T, "8atom_max", L)            \
    KASSAY_BUILTIN_ATOMIC(atomicAnd, T, "8atom_and", L) KASSAY_BUILTIN_ATOMIC(atomicOr, T, "7atom_or", L)              \
    KASSAY_BUILTIN_ATOMIC(atomicXor, T, "8atom_xor", L) KASSAY_BUILTIN_ATOMIC(atomicExch, T, "9atom_xchg", L)          \
    __device__ T atomicCAS(T *, T, T) KASSAY_AS("_Z12atom_cmpxchgPU3AS4V" L L L);
KASSAY_ATOMICS_32(int, "i") KASSAY_ATOMICS_32(unsigned, "j")
KASSAY_ATOMICS_64(long, "l") KASSAY_ATOMICS_64(unsigned long, "m")
KASSAY_ATOMICS_64(long long, "l") KASSAY_ATOMICS_64(unsigned long long, "m")

#define KASSAY_ATOMIC(NAME, OP, T, SCOPE)                                                                              \
    KASSAY_INNER T NAME(T *p, T v) { return __scoped_atomic_##OP(p, v, __ATOMIC_RELAXED, SCOPE); }
#define KASSAY_EXCHANGE_IF(NAME, T, SCOPE)                                                                             \
    KASSAY_INNER T NAME(T *p, T expected, T v) {                                                                       \
        __scoped_atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, SCOPE);         \
        return expected;                                                                                               \
    }
#define KASSAY_SCOPED_ATOMICS(T, SUFFIX, SCOPE)                                                                        \
    KASSAY_ATOMIC(atomicAdd##SUFFIX, fetch_add, T, SCOPE) KASSAY_ATOMIC(atomicSub##SUFFIX, fetch_sub, T, SCOPE)        \
    KASSAY_ATOMIC(atomicMin##SUFFIX, fetch_min, T, SCOPE) KASSAY_ATOMIC(atomicMax##SUFFIX, fetch_max, T, SCOPE)        \
    KASSAY_ATOMIC(atomicAnd##SUFFIX, fetch_and, T, SCOPE) KASSAY_ATOMIC(atomicOr##SUFFIX, fetch_or, T, SCOPE)          \
    KASSAY_ATOMIC(atomicXor##SUFFIX, fetch_xor, T, SCOPE) KASSAY_ATOMIC(atomicExch##SUFFIX, exchange_n, T, SCOPE)      \
    KASSAY_EXCHANGE_IF(atomicCAS##SUFFIX, T, SCOPE)
#define KASSAY_OTHER_SCOPES(T)                                                                                         \
    KASSAY_SCOPED_ATOMICS(T, _block, __MEMORY_SCOPE_WRKGRP) KASSAY_SCOPED_ATOMICS(T, _system, __MEMORY_SCOPE_SYSTEM)
KASSAY_OTHER_SCOPES(int) KASSAY_OTHER_SCOPES(unsigned) KASSAY_OTHER_SCOPES(long) KASSAY_OTHER_SCOPES(unsigned long)
KASSAY_OTHER_SCOPES(long long) KASSAY_OTHER_SCOPES(unsigned long long)
KASSAY_EXCHANGE_IF(atomicCAS, unsigned short, __MEMORY_SCOPE_DEVICE)

#define KASSAY_FLOAT_ATOMICS(T, BITS)                                                                                  \
    KASSAY_ATOMIC(atomicAdd, fetch_add, T, __MEMORY_SCOPE_DEVICE)                                                      \
    KASSAY_ATOMIC(atomicAdd_block, fetch_add, T, __MEMORY_SCOPE_WRKGRP)                                                \
    KASSAY_ATOMIC(atomicAdd_system, fetch_add, T, __MEMORY_SCOPE_SYSTEM)                                               \
    KASSAY_INNER T atomicExch(T *p, T v) {                                                                             \
        return __builtin_bit_cast(T, atomicExch((BITS *)p, __builtin_bit_cast(BITS, v)));                              \
    }
KASSAY_FLOAT_ATOMICS(float, unsigned) KASSAY_FLOAT_ATOMICS(double, unsigned long)

/* Count up to the limit and begin again at 0; count down to 0 and begin again at the limit. */
#define KASSAY_WRAPPING(NAME, NEXT, SCOPE)                                                                             \
    KASSAY_INNER unsigned NAME(unsigned *p, unsigned limit) {                                                          \
        unsigned old = __scoped_atomic_load_n(p, __ATOMIC_RELAXED, SCOPE);                                             \
        while (!__scoped_atomic_compare_exchange_n(p, &old, NEXT, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, SCOPE)) { \
        }                                                                                                              \
        return old;                                                                                                    \
    }
#define KASSAY_UP (old >= limit ? 0 : old + 1)
#define KASSAY_DOWN (old == 0 || old > limit ? limit : old - 1)
KASSAY_WRAPPING(atomicInc, KASSAY_UP, __MEMORY_SCOPE_DEVICE) KASSAY_WRAPPING(atomicDec, KASSAY_DOWN, __MEMORY_SCOPE_DEVICE)
KASSAY_WRAPPING(atomicInc_block, KASSAY_UP, __MEMORY_SCOPE_WRKGRP)
KASSAY_WRAPPING(atomicDec_block, KASSAY_DOWN, __MEMORY_SCOPE_WRKGRP)
KASSAY_WRAPPING(atomicInc_system, KASSAY_UP, __MEMORY_SCOPE_SYSTEM)
KASSAY_WRAPPING(atomicDec_system, KASSAY_DOWN, __MEMORY_SCOPE_SYSTEM)
