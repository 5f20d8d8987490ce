/* libcu++: `cuda::std` has what the standard library has for compile time and for plain objects, with complex numbers of
 * its own; `cuda` has atomics, barriers of blocks, and pipelines of single threads. */
#pragma once
#include <kassay/complex_numbers.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <ratio>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cuda {
namespace std {
using namespace ::std;
KASSAY_COMPLEX_NAMES
/* The orders are types, so that each operation has one that is known: pointers to them, which are passed without a copy. */
template <int ORDER> struct __kassay_order {};
typedef const __kassay_order<__ATOMIC_SEQ_CST> *memory_order;
#define KASSAY_MEMORY_ORDER(NAME, ORDER) static constexpr const __kassay_order<ORDER> *memory_order_##NAME = nullptr;
KASSAY_MEMORY_ORDER(relaxed, __ATOMIC_RELAXED) KASSAY_MEMORY_ORDER(consume, __ATOMIC_ACQUIRE)
KASSAY_MEMORY_ORDER(acquire, __ATOMIC_ACQUIRE) KASSAY_MEMORY_ORDER(release, __ATOMIC_RELEASE)
KASSAY_MEMORY_ORDER(acq_rel, __ATOMIC_ACQ_REL) KASSAY_MEMORY_ORDER(seq_cst, __ATOMIC_SEQ_CST)
} // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
constexpr int __kassay_scope(thread_scope s) {
    return s == thread_scope_system ? __MEMORY_SCOPE_SYSTEM
         : s == thread_scope_device ? __MEMORY_SCOPE_DEVICE
         : s == thread_scope_block  ? __MEMORY_SCOPE_WRKGRP
                                    : __MEMORY_SCOPE_SINGLE;
}
/* What an exchange that fails may have of an order. */
constexpr int __kassay_failing(int order) {
    return order == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE : order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : order;
}

/* The operations on what `at()` gives. */
#define KASSAY_ORDER template <int O = __ATOMIC_SEQ_CST> KASSAY_DEVICE_MEMBER
#define KASSAY_CHANGE(NAME)                                                                                            \
    KASSAY_ORDER T fetch_##NAME(T v, const std::__kassay_order<O> * = nullptr) const {                                 \
        return __scoped_atomic_fetch_##NAME(at(), v, O, SCOPE);                                                        \
    }
#define KASSAY_ATOMIC_MEMBERS                                                                                          \
    KASSAY_ORDER T load(const std::__kassay_order<O> * = nullptr) const {                                              \
        T v;                                                                                                           \
        __scoped_atomic_load(at(), &v, O, SCOPE);                                                                      \
        return v;                                                                                                      \
    }                                                                                                                  \
    KASSAY_ORDER void store(T v, const std::__kassay_order<O> * = nullptr) const {                                     \
        __scoped_atomic_store(at(), &v, O, SCOPE);                                                                     \
    }                                                                                                                  \
    KASSAY_ORDER T exchange(T v, const std::__kassay_order<O> * = nullptr) const {                                     \
        T old;                                                                                                         \
        __scoped_atomic_exchange(at(), &v, &old, O, SCOPE);                                                            \
        return old;                                                                                                    \
    }                                                                                                                  \
    template <int O = __ATOMIC_SEQ_CST, int P = __kassay_failing(O)>                                                   \
    KASSAY_DEVICE_MEMBER bool compare_exchange_strong(T &expected, T v, const std::__kassay_order<O> * = nullptr,      \
                                                      const std::__kassay_order<P> * = nullptr) const {                \
        return __scoped_atomic_compare_exchange(at(), &expected, &v, false, O, P, SCOPE);                              \
    }                                                                                                                  \
    template <int O = __ATOMIC_SEQ_CST, int P = __kassay_failing(O)>                                                   \
    KASSAY_DEVICE_MEMBER bool compare_exchange_weak(T &expected, T v, const std::__kassay_order<O> * = nullptr,        \
                                                    const std::__kassay_order<P> * = nullptr) const {                  \
        return __scoped_atomic_compare_exchange(at(), &expected, &v, false, O, P, SCOPE);                              \
    }                                                                                                                  \
    KASSAY_CHANGE(add) KASSAY_CHANGE(sub) KASSAY_CHANGE(and) KASSAY_CHANGE(or) KASSAY_CHANGE(xor) KASSAY_CHANGE(min)   \
    KASSAY_CHANGE(max)                                                                                                 \
    KASSAY_DEVICE_MEMBER T operator=(T v) const { store(v); return v; }                                                \
    KASSAY_DEVICE_MEMBER operator T() const { return load(); }                                                         \
    KASSAY_DEVICE_MEMBER T operator++(int) const { return fetch_add((T)1); }                                           \
    KASSAY_DEVICE_MEMBER T operator--(int) const { return fetch_sub((T)1); }                                           \
    KASSAY_DEVICE_MEMBER T operator++() const { return (T)(fetch_add((T)1) + 1); }                                     \
    KASSAY_DEVICE_MEMBER T operator--() const { return (T)(fetch_sub((T)1) - 1); }                                     \
    KASSAY_DEVICE_MEMBER T operator+=(T v) const { return (T)(fetch_add(v) + v); }                                     \
    KASSAY_DEVICE_MEMBER T operator-=(T v) const { return (T)(fetch_sub(v) - v); }                                     \
    KASSAY_DEVICE_MEMBER T operator&=(T v) const { return (T)(fetch_and(v) & v); }                                     \
    KASSAY_DEVICE_MEMBER T operator|=(T v) const { return (T)(fetch_or(v) | v); }                                      \
    KASSAY_DEVICE_MEMBER T operator^=(T v) const { return (T)(fetch_xor(v) ^ v); }

template <typename T, thread_scope S = thread_scope_system> struct atomic {
    mutable T value;
    static constexpr int SCOPE = __kassay_scope(S);
    KASSAY_DEVICE_MEMBER T *at() const { return &value; }
    atomic() = default;
    KASSAY_MEMBER constexpr atomic(T v) : value(v) {}
    atomic(const atomic &) = delete;
    KASSAY_ATOMIC_MEMBERS
};
template <typename T, thread_scope S = thread_scope_system> struct atomic_ref {
    T *place;
    static constexpr int SCOPE = __kassay_scope(S);
    KASSAY_DEVICE_MEMBER T *at() const { return place; }
    KASSAY_MEMBER explicit atomic_ref(T &v) : place(&v) {}
    KASSAY_ATOMIC_MEMBERS
};
template <int O> KASSAY_INNER void atomic_thread_fence(const std::__kassay_order<O> *, thread_scope s = thread_scope_system) {
    __kassay_fence(KASSAY_ALL_MEMORY, O, s == thread_scope_system ? 3 : s == thread_scope_device ? 2 : s == thread_scope_block ? 1 : 0);
}
namespace std {
template <typename T> using atomic = ::cuda::atomic<T, thread_scope_system>;
template <typename T> using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;
template <int O> KASSAY_INNER void atomic_thread_fence(const __kassay_order<O> *o) { ::cuda::atomic_thread_fence(o); }
} // namespace std

/* Copies of a thread are made where they are started, so that a wait that is missing is not found. */
template <size_t N> struct aligned_size_t {
    size_t value;
    KASSAY_MEMBER aligned_size_t(size_t v) : value(v) {}
    KASSAY_MEMBER operator size_t() const { return value; }
};
template <thread_scope S> struct pipeline;
template <> struct pipeline<thread_scope_thread> {
    KASSAY_MEMBER void producer_acquire() {}
    KASSAY_MEMBER void producer_commit() {}
    KASSAY_MEMBER void consumer_wait() {}
    KASSAY_MEMBER void consumer_release() {}
};
KASSAY_INNER pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <int N> KASSAY_INNER void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &) {}
template <typename T, typename N> KASSAY_INNER void memcpy_async(T *to, const T *from, N bytes, pipeline<thread_scope_thread> &) {
    __builtin_memcpy(to, from, (size_t)bytes);
}
template <typename N> KASSAY_INNER void memcpy_async(void *to, const void *from, N bytes, pipeline<thread_scope_thread> &) {
    __builtin_memcpy(to, from, (size_t)bytes);
}
/* A barrier of all threads of a block, which arrive and wait at once (`waits.cpp`), is the block's. Others, and pipelines
 * that several threads share, wait in ways of their own. */
__device__ void __kassay_cuda_barrier() KASSAY_ABSENT("cuda::barrier of another scope, or with a function");
__device__ void __kassay_cuda_arrivals() KASSAY_ABSENT("cuda::barrier::arrive for several threads");
__device__ void __kassay_cuda_drop() KASSAY_ABSENT("cuda::barrier::arrive_and_drop");
__device__ void __kassay_cuda_try() KASSAY_ABSENT("cuda::barrier::try_wait");
__device__ void __kassay_cuda_pipeline() KASSAY_ABSENT("cuda::pipeline of several threads");
extern "C" KASSAY_WAITS void __kassay_cuda_arrive() KASSAY_ABSENT("apart cuda::barrier::arrive");
extern "C" KASSAY_WAITS void __kassay_cuda_wait() KASSAY_ABSENT("apart cuda::barrier::wait");
struct __kassay_nothing { KASSAY_MEMBER void operator()() const {} };
template <thread_scope S, typename F = __kassay_nothing> struct barrier {
    typedef int arrival_token;
    long long state;
    KASSAY_DEVICE_MEMBER arrival_token arrive(long = 1) { __kassay_cuda_barrier(); return 0; }
    KASSAY_DEVICE_MEMBER void wait(arrival_token &&) { __kassay_cuda_barrier(); }
    KASSAY_DEVICE_MEMBER void arrive_and_wait() { __kassay_cuda_barrier(); }
    KASSAY_DEVICE_MEMBER void arrive_and_drop() { __kassay_cuda_barrier(); }
};
template <> struct barrier<thread_scope_block, __kassay_nothing> {
    struct arrival_token { const void *of; };
    long long state;
    /* Who comes before `init` races with it. */
    KASSAY_DEVICE_MEMBER void kassay_read() const { (void)*(const volatile long long *)&state; }
    KASSAY_DEVICE_MEMBER arrival_token arrive() { kassay_read(); __kassay_cuda_arrive(); return {this}; }
    KASSAY_DEVICE_MEMBER arrival_token arrive(long) { __kassay_cuda_arrivals(); return {this}; }
    KASSAY_DEVICE_MEMBER void wait(arrival_token &&token) {
        __kassay_cuda_wait();
        if (token.of != this)
            __kassay_trap("a cuda::barrier waits for its own arrivals: this token is of another one");
    }
    KASSAY_DEVICE_MEMBER void arrive_and_wait() { kassay_read(); __kassay_barrier(KASSAY_ALL_MEMORY); }
    KASSAY_DEVICE_MEMBER void arrive_and_drop() { __kassay_cuda_drop(); }
    KASSAY_DEVICE_MEMBER bool try_wait(arrival_token &&) { __kassay_cuda_try(); return true; }
};
template <thread_scope S, typename F> KASSAY_INNER void init(barrier<S, F> *, long) { __kassay_cuda_barrier(); }
KASSAY_INNER void init(barrier<thread_scope_block> *b, long expected) {
    b->state = expected;
    if (expected != (long)(blockDim.x * blockDim.y * blockDim.z))
        __kassay_trap("a cuda::barrier for all threads of its block: kassay has no other");
}
template <typename T, typename N> KASSAY_INNER void memcpy_async(T *to, const T *from, N bytes, barrier<thread_scope_block> &) {
    __builtin_memcpy(to, from, (size_t)bytes);
}
template <typename N> KASSAY_INNER void memcpy_async(void *to, const void *from, N bytes, barrier<thread_scope_block> &) {
    __builtin_memcpy(to, from, (size_t)bytes);
}
template <typename G, typename T, typename N>
KASSAY_INNER void memcpy_async(const G &g, T *to, const T *from, N bytes, barrier<thread_scope_block> &) {
    for (size_t i = g.thread_rank(); i < (size_t)bytes / sizeof(T); i += g.size()) to[i] = from[i];
}
template <thread_scope S, int N = 1> struct pipeline_shared_state {};
enum class pipeline_role { producer, consumer };
template <thread_scope S> struct pipeline {
    KASSAY_DEVICE_MEMBER void producer_acquire() { __kassay_cuda_pipeline(); }
    KASSAY_DEVICE_MEMBER void producer_commit() { __kassay_cuda_pipeline(); }
    KASSAY_DEVICE_MEMBER void consumer_wait() { __kassay_cuda_pipeline(); }
    KASSAY_DEVICE_MEMBER void consumer_release() { __kassay_cuda_pipeline(); }
};
template <typename G, thread_scope S, int N, typename... A>
KASSAY_INNER pipeline<S> make_pipeline(const G &, pipeline_shared_state<S, N> *, A...) { __kassay_cuda_pipeline(); return {}; }
template <typename T> struct __kassay_copies { static constexpr bool value = false; };
template <> struct __kassay_copies<barrier<thread_scope_block>> { static constexpr bool value = true; };
template <> struct __kassay_copies<pipeline<thread_scope_thread>> { static constexpr bool value = true; };
template <typename... A, typename = ::std::enable_if_t<!(__kassay_copies<::std::remove_reference_t<A>>::value || ...)>>
KASSAY_INNER void memcpy_async(A &&...) { __kassay_cuda_pipeline(); }
} // namespace cuda
