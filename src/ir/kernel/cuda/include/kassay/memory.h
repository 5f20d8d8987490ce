/* Accesses with hints, output, and what else kernels call. */
#pragma once
#include <kassay/mathematics.h>

/* Hints about caches change no value. */
#define KASSAY_LOAD(NAME) template <typename T> KASSAY_INNER T NAME(const T *p) { return *p; }
KASSAY_LOAD(__ldg) KASSAY_LOAD(__ldca) KASSAY_LOAD(__ldcg) KASSAY_LOAD(__ldcs) KASSAY_LOAD(__ldcv) KASSAY_LOAD(__ldlu)
#define KASSAY_STORE(NAME) template <typename T> KASSAY_INNER void NAME(T *p, T v) { *p = v; }
KASSAY_STORE(__stwb) KASSAY_STORE(__stcg) KASSAY_STORE(__stcs) KASSAY_STORE(__stwt)

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
__device__ void __trap() KASSAY_ABSENT("__trap");
__device__ unsigned __smid() KASSAY_ABSENT("__smid");

/* A failed assertion is none of kassay's findings yet; what it asserts is evaluated. */
extern "C" inline __attribute__((device, always_inline, nodebug)) void __assert_fail(const char *, const char *, unsigned,
                                                                                    const char *) noexcept {}
