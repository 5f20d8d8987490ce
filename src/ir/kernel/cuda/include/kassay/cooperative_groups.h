/* Cooperative groups: blocks, tiles of warps, and those of whatever lanes arrive together, whose functions are the warp's
 * with the group's lanes as the mask; and the grid, which meets at one builtin. */
#pragma once
#include <kassay/cuda.h>

#include <utility>

namespace cooperative_groups {
#define KASSAY_GROUP KASSAY_DEVICE_MEMBER
/* One builtin: three ids would say that blocks of the kernel have three dimensions. */
KASSAY_INNER unsigned __kassay_rank() { return (unsigned)__kassay_linear_id(); }
KASSAY_INNER unsigned __kassay_size() { return blockDim.x * blockDim.y * blockDim.z; }

/* The lanes of the caller's tile of `n` threads. */
KASSAY_INNER unsigned __kassay_tile(unsigned n) { return ((n < 32 ? 1u << n : 0) - 1) << (__kassay_lane() & ~(n - 1)); }
/* The lane of rank `r` among some. */
KASSAY_INNER unsigned __kassay_ranked(unsigned lanes, unsigned r) {
    for (unsigned i = 0; i < r; i++) lanes &= lanes - 1;
    return (unsigned)__ffs((int)lanes) - 1;
}
/* The bits of some lanes, by rank. */
KASSAY_INNER unsigned __kassay_packed(unsigned lanes, unsigned bits) {
    unsigned packed = 0;
    for (unsigned r = 0; lanes != 0; r++, lanes &= lanes - 1) packed |= (bits >> (__ffs((int)lanes) - 1) & 1) << r;
    return packed;
}

/* A block, or a tile of `count` threads. */
struct thread_group {
    unsigned count, rank;
    bool is_tile;
    KASSAY_GROUP void sync() const {
        if (is_tile) __syncwarp(__kassay_tile(count)); else __syncthreads();
    }
    KASSAY_GROUP unsigned size() const { return count; }
    KASSAY_GROUP unsigned num_threads() const { return count; }
    KASSAY_GROUP unsigned thread_rank() const { return rank; }
};

/* Arrivals with the wait for them right behind are barriers (`waits.cpp`). */
typedef int __kassay_arrival;
extern "C" KASSAY_WAITS void __kassay_block_arrive() KASSAY_ABSENT("apart thread_block::barrier_arrive");
extern "C" KASSAY_WAITS void __kassay_block_wait() KASSAY_ABSENT("apart thread_block::barrier_wait");
extern "C" KASSAY_WAITS void __kassay_grid_arrive() KASSAY_ABSENT("apart grid_group::barrier_arrive");
extern "C" KASSAY_WAITS void __kassay_grid_wait() KASSAY_ABSENT("apart grid_group::barrier_wait");
struct thread_block {
    typedef __kassay_arrival arrival_token;
    static KASSAY_GROUP void sync() { __syncthreads(); }
    static KASSAY_GROUP arrival_token barrier_arrive() { __kassay_block_arrive(); return 0; }
    static KASSAY_GROUP void barrier_wait(arrival_token &&) { __kassay_block_wait(); }
    static KASSAY_GROUP unsigned size() { return __kassay_size(); }
    static KASSAY_GROUP unsigned num_threads() { return __kassay_size(); }
    static KASSAY_GROUP unsigned thread_rank() { return __kassay_rank(); }
    static KASSAY_GROUP dim3 group_index() { return blockIdx; }
    static KASSAY_GROUP dim3 thread_index() { return threadIdx; }
    static KASSAY_GROUP dim3 group_dim() { return blockDim; }
    static KASSAY_GROUP dim3 dim_threads() { return blockDim; }
    KASSAY_GROUP operator thread_group() const { return thread_group{__kassay_size(), __kassay_rank(), false}; }
};
KASSAY_INNER thread_block this_thread_block() { return thread_block(); }
/* Memory for tiles of several warps, which CUDA's own compiler needs from sm_70 on down. */
template <unsigned N> struct block_tile_memory {};
template <unsigned N> KASSAY_INNER thread_block this_thread_block(block_tile_memory<N> &) { return thread_block(); }

extern "C" KASSAY_WAITS void __kassay_grid_barrier(unsigned) KASSAY_AS("_Z19kassay_grid_barrierj");
struct grid_group {
    typedef __kassay_arrival arrival_token;
    KASSAY_GROUP bool is_valid() const { return true; }
    KASSAY_GROUP void sync() const { __kassay_grid_barrier(KASSAY_ALL_MEMORY); }
    KASSAY_GROUP arrival_token barrier_arrive() const { __kassay_grid_arrive(); return 0; }
    KASSAY_GROUP void barrier_wait(arrival_token &&) const { __kassay_grid_wait(); }
    KASSAY_GROUP unsigned num_blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
    KASSAY_GROUP unsigned block_rank() const { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
    KASSAY_GROUP unsigned long long size() const { return (unsigned long long)num_blocks() * __kassay_size(); }
    KASSAY_GROUP unsigned long long num_threads() const { return size(); }
    KASSAY_GROUP unsigned long long thread_rank() const {
        return (unsigned long long)block_rank() * __kassay_size() + __kassay_rank();
    }
    KASSAY_GROUP dim3 group_dim() const { return gridDim; }
    KASSAY_GROUP dim3 dim_blocks() const { return gridDim; }
    KASSAY_GROUP dim3 block_index() const { return blockIdx; }
};
typedef grid_group multi_grid_group;
KASSAY_INNER grid_group this_grid() { return grid_group(); }
KASSAY_INNER multi_grid_group this_multi_grid() { return multi_grid_group(); }

template <unsigned N, typename PARENT = void> struct thread_block_tile {
    static_assert(N <= 32 && (N & (N - 1)) == 0, "tiles of up to 32 threads");
    KASSAY_GROUP thread_block_tile() {}
    template <typename Q> KASSAY_GROUP thread_block_tile(const thread_block_tile<N, Q> &) {}
    KASSAY_GROUP unsigned kassay_lanes() const {
        if constexpr (N == 32) return KASSAY_ALL_LANES; else return __kassay_tile(N);
    }
    KASSAY_GROUP void sync() const { __syncwarp(kassay_lanes()); }
    static constexpr KASSAY_MEMBER unsigned size() { return N; }
    static constexpr KASSAY_MEMBER unsigned num_threads() { return N; }
    KASSAY_GROUP unsigned thread_rank() const { return __kassay_rank() % N; }
    KASSAY_GROUP unsigned meta_group_rank() const { return __kassay_rank() / N; }
    KASSAY_GROUP unsigned meta_group_size() const { return (__kassay_size() + N - 1) / N; }
    template <typename T> KASSAY_GROUP T shfl(T v, int lane) const { return __shfl_sync(kassay_lanes(), v, lane, N); }
    template <typename T> KASSAY_GROUP T shfl_up(T v, unsigned delta) const {
        return __shfl_up_sync(kassay_lanes(), v, delta, N);
    }
    template <typename T> KASSAY_GROUP T shfl_down(T v, unsigned delta) const {
        return __shfl_down_sync(kassay_lanes(), v, delta, N);
    }
    template <typename T> KASSAY_GROUP T shfl_xor(T v, int mask) const {
        return __shfl_xor_sync(kassay_lanes(), v, mask, N);
    }
    KASSAY_GROUP unsigned in_tile(unsigned lanes) const { return lanes >> (__kassay_lane() & ~(N - 1)); }
    KASSAY_GROUP unsigned ballot(int p) const { return in_tile(__ballot_sync(kassay_lanes(), p)); }
    KASSAY_GROUP int any(int p) const { return ballot(p) != 0; }
    KASSAY_GROUP int all(int p) const { return ballot(p == 0) == 0; }
    template <typename T> KASSAY_GROUP unsigned match_any(T v) const {
        return in_tile(__match_any_sync(kassay_lanes(), v));
    }
    template <typename T> KASSAY_GROUP unsigned match_all(T v, int &all) const {
        return in_tile(__match_all_sync(kassay_lanes(), v, &all));
    }
    KASSAY_GROUP operator thread_group() const { return thread_group{N, thread_rank(), true}; }
};
template <unsigned N, typename G> KASSAY_INNER thread_block_tile<N, G> tiled_partition(const G &) {
    return thread_block_tile<N, G>();
}
template <typename G> KASSAY_INNER thread_group tiled_partition(const G &, unsigned n) {
    return thread_group{n, __kassay_rank() % n, true};
}

/* Some lanes of a warp, ranked in the order of their numbers. */
struct coalesced_group {
    unsigned lanes;
    KASSAY_GROUP unsigned kassay_lanes() const { return lanes; }
    KASSAY_GROUP void sync() const { __syncwarp(lanes); }
    KASSAY_GROUP unsigned size() const { return (unsigned)__popc((int)lanes); }
    KASSAY_GROUP unsigned num_threads() const { return size(); }
    KASSAY_GROUP unsigned thread_rank() const { return (unsigned)__popc((int)(lanes & ((1u << __kassay_lane()) - 1))); }
    template <typename T> KASSAY_GROUP T from_rank(T v, unsigned r) const {
        return __kassay_shuffle(lanes, v, r < size() ? __kassay_ranked(lanes, r) : __kassay_lane());
    }
    template <typename T> KASSAY_GROUP T shfl(T v, unsigned r) const { return from_rank(v, r % size()); }
    template <typename T> KASSAY_GROUP T shfl_down(T v, unsigned delta) const { return from_rank(v, thread_rank() + delta); }
    /* What lies before the first rank is beyond the last, too. */
    template <typename T> KASSAY_GROUP T shfl_up(T v, unsigned delta) const { return from_rank(v, thread_rank() - delta); }
    KASSAY_GROUP unsigned ballot(int p) const { return __kassay_packed(lanes, __ballot_sync(lanes, p)); }
    KASSAY_GROUP int any(int p) const { return __any_sync(lanes, p); }
    KASSAY_GROUP int all(int p) const { return __all_sync(lanes, p); }
    template <typename T> KASSAY_GROUP unsigned match_any(T v) const {
        return __kassay_packed(lanes, __match_any_sync(lanes, v));
    }
    template <typename T> KASSAY_GROUP unsigned match_all(T v, int &all) const {
        return __kassay_packed(lanes, __match_all_sync(lanes, v, &all));
    }
};
template <typename G> KASSAY_INNER coalesced_group binary_partition(const G &g, bool p) {
    unsigned yes = __ballot_sync(g.kassay_lanes(), p), no = __ballot_sync(g.kassay_lanes(), !p);
    return coalesced_group{p ? yes : no};
}
template <typename G, typename L> KASSAY_INNER coalesced_group labeled_partition(const G &g, L label) {
    if constexpr (sizeof(L) <= 4) return coalesced_group{__match_any_sync(g.kassay_lanes(), (int)label)};
    else return coalesced_group{__match_any_sync(g.kassay_lanes(), (long long)label)};
}
/* Which lanes are active is what `__activemask` says. */
KASSAY_INNER coalesced_group coalesced_threads() { return coalesced_group{__activemask()}; }
template <typename G> KASSAY_INNER void sync(const G &g) { g.sync(); }
template <typename G> KASSAY_INNER void synchronize(const G &g) { g.sync(); }

template <typename T> struct plus { KASSAY_GROUP T operator()(T a, T b) const { return a + b; } };
template <typename T> struct less { KASSAY_GROUP T operator()(T a, T b) const { return b < a ? b : a; } };
template <typename T> struct greater { KASSAY_GROUP T operator()(T a, T b) const { return a < b ? b : a; } };
template <typename T> struct bit_and { KASSAY_GROUP T operator()(T a, T b) const { return a & b; } };
template <typename T> struct bit_or { KASSAY_GROUP T operator()(T a, T b) const { return a | b; } };
template <typename T> struct bit_xor { KASSAY_GROUP T operator()(T a, T b) const { return a ^ b; } };
template <typename G, typename T, typename F> KASSAY_INNER T reduce(const G &g, T v, F f) {
    for (unsigned d = g.size() / 2; d > 0; d /= 2) v = f(v, g.shfl_xor(v, (int)d));
    return v;
}
template <typename T, typename F> KASSAY_INNER T reduce(const coalesced_group &g, T v, F f) {
    T all = g.shfl(v, 0);
    for (unsigned r = 1; r < g.size(); r++) all = f(all, g.shfl(v, r));
    return all;
}
template <typename G, typename T, typename F> KASSAY_INNER T inclusive_scan(const G &g, T v, F f) {
    for (unsigned d = 1; d < g.size(); d *= 2) {
        T other = g.shfl_up(v, d);
        if (g.thread_rank() >= d) v = f(other, v);
    }
    return v;
}
template <typename G, typename T, typename F> KASSAY_INNER T exclusive_scan(const G &g, T v, F f) {
    T sum = g.shfl_up(inclusive_scan(g, v, f), 1);
    return g.thread_rank() == 0 ? T() : sum;
}
template <typename G, typename T> KASSAY_INNER T exclusive_scan(const G &g, T v) { return exclusive_scan(g, v, plus<T>()); }
template <typename G, typename T> KASSAY_INNER T inclusive_scan(const G &g, T v) { return inclusive_scan(g, v, plus<T>()); }
template <typename G, typename T> KASSAY_INNER void memcpy_async(const G &g, T *to, const T *from, size_t bytes) {
    for (size_t i = g.thread_rank(); i < bytes / sizeof(T); i += g.size()) to[i] = from[i];
}
template <typename G> KASSAY_INNER void wait(const G &g) { g.sync(); }
template <int N, typename G> KASSAY_INNER void wait_prior(const G &g) { g.sync(); }
} // namespace cooperative_groups
