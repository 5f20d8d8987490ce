/* Atomics (OpenCL C 3.0, 6.15.12), as LLVM instructions. Those of OpenCL C 1.x are relaxed and have device scope. */

#include "host.h"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define SPACES(M, ...) M(__global, __VA_ARGS__) M(__local, __VA_ARGS__) M(__generic, __VA_ARGS__)

/* OpenCL C 1.x: `atomic_` for 32 bits, `atom_` for 32 and 64. */

#define OLD(SPACE, PREFIX, T)                                                                                          \
    BUILTIN T PREFIX##add(volatile SPACE T *p, T x) { return RELAXED(fetch_add, SPACE, T); }                           \
    BUILTIN T PREFIX##sub(volatile SPACE T *p, T x) { return RELAXED(fetch_sub, SPACE, T); }                           \
    BUILTIN T PREFIX##xchg(volatile SPACE T *p, T x) { return RELAXED(exchange, SPACE, T); }                           \
    BUILTIN T PREFIX##min(volatile SPACE T *p, T x) { return RELAXED(fetch_min, SPACE, T); }                           \
    BUILTIN T PREFIX##max(volatile SPACE T *p, T x) { return RELAXED(fetch_max, SPACE, T); }                           \
    BUILTIN T PREFIX##and(volatile SPACE T *p, T x) { return RELAXED(fetch_and, SPACE, T); }                           \
    BUILTIN T PREFIX##or(volatile SPACE T *p, T x) { return RELAXED(fetch_or, SPACE, T); }                             \
    BUILTIN T PREFIX##xor(volatile SPACE T *p, T x) { return RELAXED(fetch_xor, SPACE, T); }                           \
    BUILTIN T PREFIX##inc(volatile SPACE T *p) {                                                                       \
        T x = 1;                                                                                                       \
        return RELAXED(fetch_add, SPACE, T);                                                                           \
    }                                                                                                                  \
    BUILTIN T PREFIX##dec(volatile SPACE T *p) {                                                                       \
        T x = 1;                                                                                                       \
        return RELAXED(fetch_sub, SPACE, T);                                                                           \
    }                                                                                                                  \
    BUILTIN T PREFIX##cmpxchg(volatile SPACE T *p, T expected, T x) {                                                  \
        __opencl_atomic_compare_exchange_strong((volatile SPACE atomic_##T *)p, &expected, x, memory_order_relaxed,    \
                                                memory_order_relaxed, memory_scope_device);                            \
        return expected;                                                                                               \
    }

#define RELAXED(OP, SPACE, T)                                                                                          \
    __opencl_atomic_##OP((volatile SPACE atomic_##T *)p, x, memory_order_relaxed, memory_scope_device)

SPACES(OLD, atomic_, int)
SPACES(OLD, atomic_, uint)
SPACES(OLD, atom_, int)
SPACES(OLD, atom_, uint)
SPACES(OLD, atom_, long)
SPACES(OLD, atom_, ulong)

#define OLD_FLOAT(SPACE, PREFIX)                                                                                       \
    BUILTIN float PREFIX##xchg(volatile SPACE float *p, float x) { return RELAXED(exchange, SPACE, float); }

SPACES(OLD_FLOAT, atomic_)
SPACES(OLD_FLOAT, atom_)

/* C11's. R: return type, A: the atomic type's suffix, T: operand type. Without an order: sequentially consistent. */

#define C11(SPACE, R, NAME, A, T)                                                                                      \
    BUILTIN R atomic_##NAME(volatile SPACE atomic_##A *p, T x) {                                                       \
        return __opencl_atomic_##NAME(p, x, memory_order_seq_cst, memory_scope_device);                                \
    }                                                                                                                  \
    BUILTIN R atomic_##NAME##_explicit(volatile SPACE atomic_##A *p, T x, memory_order order) {                        \
        return __opencl_atomic_##NAME(p, x, order, memory_scope_device);                                               \
    }                                                                                                                  \
    BUILTIN R atomic_##NAME##_explicit(volatile SPACE atomic_##A *p, T x, memory_order order, memory_scope scope) {    \
        return __opencl_atomic_##NAME(p, x, order, scope);                                                             \
    }

#define C11_LOAD(SPACE, T)                                                                                             \
    BUILTIN T atomic_load(volatile SPACE atomic_##T *p) {                                                              \
        return __opencl_atomic_load(p, memory_order_seq_cst, memory_scope_device);                                     \
    }                                                                                                                  \
    BUILTIN T atomic_load_explicit(volatile SPACE atomic_##T *p, memory_order order) {                                 \
        return __opencl_atomic_load(p, order, memory_scope_device);                                                    \
    }                                                                                                                  \
    BUILTIN T atomic_load_explicit(volatile SPACE atomic_##T *p, memory_order order, memory_scope scope) {             \
        return __opencl_atomic_load(p, order, scope);                                                                  \
    }

#define COMPARE(SPACE, PRIVATE, T, NAME)                                                                               \
    BUILTIN bool atomic_##NAME(volatile SPACE atomic_##T *p, PRIVATE T *expected, T x) {                               \
        return __opencl_atomic_##NAME(p, expected, x, memory_order_seq_cst, memory_order_seq_cst,                      \
                                      memory_scope_device);                                                            \
    }                                                                                                                  \
    BUILTIN bool atomic_##NAME##_explicit(volatile SPACE atomic_##T *p, PRIVATE T *expected, T x, memory_order order,  \
                                          memory_order otherwise) {                                                    \
        return __opencl_atomic_##NAME(p, expected, x, order, otherwise, memory_scope_device);                          \
    }                                                                                                                  \
    BUILTIN bool atomic_##NAME##_explicit(volatile SPACE atomic_##T *p, PRIVATE T *expected, T x, memory_order order,  \
                                          memory_order otherwise, memory_scope scope) {                                \
        return __opencl_atomic_##NAME(p, expected, x, order, otherwise, scope);                                        \
    }

#define COMPARES(SPACE, T)                                                                                             \
    COMPARE(SPACE, __private, T, compare_exchange_strong)                                                              \
    COMPARE(SPACE, __private, T, compare_exchange_weak)                                                                \
    COMPARE(SPACE, __local, T, compare_exchange_strong)                                                                \
    COMPARE(SPACE, __local, T, compare_exchange_weak)                                                                  \
    COMPARE(SPACE, __global, T, compare_exchange_strong)                                                               \
    COMPARE(SPACE, __global, T, compare_exchange_weak)                                                                 \
    COMPARE(SPACE, __generic, T, compare_exchange_strong)                                                              \
    COMPARE(SPACE, __generic, T, compare_exchange_weak)

#define ANY(SPACE, T)                                                                                                  \
    BUILTIN void atomic_init(volatile SPACE atomic_##T *p, T x) { __opencl_atomic_init(p, x); }                        \
    C11(SPACE, void, store, T, T)                                                                                      \
    C11(SPACE, T, exchange, T, T)                                                                                      \
    C11_LOAD(SPACE, T)                                                                                                 \
    COMPARES(SPACE, T)

#define ARITHMETIC(SPACE, T, D)                                                                                        \
    C11(SPACE, T, fetch_add, T, D)                                                                                     \
    C11(SPACE, T, fetch_sub, T, D)

#define BITS(SPACE, T, D)                                                                                              \
    C11(SPACE, T, fetch_or, T, D)                                                                                      \
    C11(SPACE, T, fetch_xor, T, D)                                                                                     \
    C11(SPACE, T, fetch_and, T, D)

#define ORDERED(SPACE, T)                                                                                              \
    C11(SPACE, T, fetch_min, T, T)                                                                                     \
    C11(SPACE, T, fetch_max, T, T)

#define WHOLE(SPACE, T) ANY(SPACE, T) ARITHMETIC(SPACE, T, T) BITS(SPACE, T, T) ORDERED(SPACE, T)
#define REAL(SPACE, T) ANY(SPACE, T) ARITHMETIC(SPACE, T, T) ORDERED(SPACE, T)

SPACES(WHOLE, int)
SPACES(WHOLE, uint)
SPACES(WHOLE, long)
SPACES(WHOLE, ulong)
SPACES(REAL, float)
SPACES(REAL, double)
/* `atomic_uintptr_t` takes a `ptrdiff_t`, `atomic_intptr_t` a `uintptr_t`. */
SPACES(ARITHMETIC, ulong, long)
SPACES(BITS, ulong, long)
SPACES(BITS, long, ulong)

/* Flags are ints; 0 means clear. */

#define FLAG(SPACE, _)                                                                                                 \
    BUILTIN bool atomic_flag_test_and_set(volatile SPACE atomic_flag *p) {                                             \
        return __opencl_atomic_exchange(p, 1, memory_order_seq_cst, memory_scope_device) != 0;                         \
    }                                                                                                                  \
    BUILTIN bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag *p, memory_order order) {                \
        return __opencl_atomic_exchange(p, 1, order, memory_scope_device) != 0;                                        \
    }                                                                                                                  \
    BUILTIN bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag *p, memory_order order,                  \
                                                   memory_scope scope) {                                               \
        return __opencl_atomic_exchange(p, 1, order, scope) != 0;                                                      \
    }                                                                                                                  \
    BUILTIN void atomic_flag_clear(volatile SPACE atomic_flag *p) {                                                    \
        __opencl_atomic_store(p, 0, memory_order_seq_cst, memory_scope_device);                                        \
    }                                                                                                                  \
    BUILTIN void atomic_flag_clear_explicit(volatile SPACE atomic_flag *p, memory_order order) {                       \
        __opencl_atomic_store(p, 0, order, memory_scope_device);                                                       \
    }                                                                                                                  \
    BUILTIN void atomic_flag_clear_explicit(volatile SPACE atomic_flag *p, memory_order order, memory_scope scope) {   \
        __opencl_atomic_store(p, 0, order, scope);                                                                     \
    }

SPACES(FLAG, )
