/* Accesses with hints, output, and what else kernels call. */
#pragma once
#include <kassay/mathematics.h>

/* Hints about caches change no value. */
#define KASSAY_LOAD(NAME) template <typename T> KASSAY_INNER T NAME(const T *p) { return *p; }
KASSAY_LOAD(__ldg) KASSAY_LOAD(__ldca) KASSAY_LOAD(__ldcg) KASSAY_LOAD(__ldcs) KASSAY_LOAD(__ldcv) KASSAY_LOAD(__ldlu)
#define KASSAY_STORE(NAME) template <typename T> KASSAY_INNER void NAME(T *p, T v) { *p = v; }
KASSAY_STORE(__stwb) KASSAY_STORE(__stcg) KASSAY_STORE(__stcs) KASSAY_STORE(__stwt)

/* All addresses are those of the generic space. */
#define KASSAY_ADDRESS(SPACE)                                                                                          \
    KASSAY_INNER size_t __cvta_generic_to_##SPACE(const void *p) { return (size_t)p; }                                 \
    KASSAY_INNER void *__cvta_##SPACE##_to_generic(size_t p) { return (void *)p; }
KASSAY_ADDRESS(shared) KASSAY_ADDRESS(global) KASSAY_ADDRESS(local) KASSAY_ADDRESS(constant)

/* Which space an address is in: OpenCL's devices do not say (Intel's CPU answers yes to each). */
__device__ unsigned __isShared(const void *) KASSAY_ABSENT("__isShared");
__device__ unsigned __isGlobal(const void *) KASSAY_ABSENT("__isGlobal");
__device__ unsigned __isLocal(const void *) KASSAY_ABSENT("__isLocal");
__device__ unsigned __isConstant(const void *) KASSAY_ABSENT("__isConstant");
KASSAY_INNER void __assume(bool) {}

extern "C" __device__ int printf(const char *, ...);
KASSAY_INNER void *memcpy(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }
KASSAY_INNER void *memset(void *to, int c, size_t n) { return __builtin_memset(to, c, n); }
KASSAY_INNER void *memmove(void *to, const void *from, size_t n) { return __builtin_memmove(to, from, n); }

/* Clocks stand still: no verdict may depend on time. */
KASSAY_INNER long long clock64() { return 0; }
KASSAY_INNER clock_t clock() { return 0; }
KASSAY_INNER long long wall_clock64() { return 0; }
KASSAY_INNER unsigned long long globaltimer() { return 0; }
KASSAY_INNER void __nanosleep(unsigned) {}
KASSAY_INNER void __brkpt() {}
KASSAY_INNER void __prof_trigger(int) {}
__device__ unsigned __smid() KASSAY_ABSENT("__smid");

/* A failed assertion, and other traps (builtins.cpp): whoever comes to one goes no further. */
extern "C" __device__ void __kassay_trap(const char *condition);
KASSAY_INNER void __trap() { __kassay_trap(nullptr); }
extern "C" inline __attribute__((device, always_inline, nodebug)) void abort() noexcept { __kassay_trap(nullptr); }
extern "C" inline __attribute__((device, always_inline, nodebug)) void __assert_fail(const char *condition, const char *, unsigned,
                                                                                    const char *) noexcept {
    __kassay_trap(condition);
}
