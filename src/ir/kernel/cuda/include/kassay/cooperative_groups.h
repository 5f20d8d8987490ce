/* Cooperative groups: blocks, and tiles of warps. A tile's functions are the warp's, so all lanes of a warp take part.
 * Groups of the whole grid, and those of whatever lanes happen to arrive together, are refused. */
#pragma once
#include <kassay/cuda.h>

namespace cooperative_groups {
#define KASSAY_GROUP KASSAY_DEVICE_MEMBER
KASSAY_INNER unsigned __kassay_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
KASSAY_INNER unsigned __kassay_size() { return blockDim.x * blockDim.y * blockDim.z; }

/* A block, or a tile of `count` threads. */
struct thread_group {
    unsigned count, rank;
    bool is_tile;
    KASSAY_GROUP void sync() const {
        if (is_tile) __syncwarp(); else __syncthreads();
    }
    KASSAY_GROUP unsigned size() const { return count; }
    KASSAY_GROUP unsigned num_threads() const { return count; }
    KASSAY_GROUP unsigned thread_rank() const { return rank; }
};

struct thread_block {
    static KASSAY_GROUP void sync() { __syncthreads(); }
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

__device__ void __kassay_grid_sync() KASSAY_ABSENT("grid_group::sync");
struct grid_group {
    KASSAY_GROUP bool is_valid() const { return true; }
    KASSAY_GROUP void sync() const { __kassay_grid_sync(); }
    KASSAY_GROUP unsigned num_blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
    KASSAY_GROUP unsigned block_rank() const { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
    KASSAY_GROUP unsigned long long size() const { return (unsigned long long)num_blocks() * __kassay_size(); }
    KASSAY_GROUP unsigned long long num_threads() const { return size(); }
    KASSAY_GROUP unsigned long long thread_rank() const {
        return (unsigned long long)block_rank() * __kassay_size() + __kassay_rank();
    }
    KASSAY_GROUP dim3 group_dim() const { return gridDim; }
};
typedef grid_group multi_grid_group;
KASSAY_INNER grid_group this_grid() { return grid_group(); }
KASSAY_INNER multi_grid_group this_multi_grid() { return multi_grid_group(); }

template <unsigned N, typename PARENT = void> struct thread_block_tile {
    static_assert(N <= 32 && (N & (N - 1)) == 0, "tiles of up to 32 threads");
    KASSAY_GROUP thread_block_tile() {}
    template <typename Q> KASSAY_GROUP thread_block_tile(const thread_block_tile<N, Q> &) {}
    KASSAY_GROUP void sync() const { __syncwarp(); }
    static constexpr KASSAY_MEMBER unsigned size() { return N; }
    static constexpr KASSAY_MEMBER unsigned num_threads() { return N; }
    KASSAY_GROUP unsigned thread_rank() const { return __kassay_rank() % N; }
    KASSAY_GROUP unsigned meta_group_rank() const { return __kassay_rank() / N; }
    KASSAY_GROUP unsigned meta_group_size() const { return (__kassay_size() + N - 1) / N; }
    template <typename T> KASSAY_GROUP T shfl(T v, int lane) const { return __shfl(v, lane, N); }
    template <typename T> KASSAY_GROUP T shfl_up(T v, unsigned delta) const { return __shfl_up(v, delta, N); }
    template <typename T> KASSAY_GROUP T shfl_down(T v, unsigned delta) const { return __shfl_down(v, delta, N); }
    template <typename T> KASSAY_GROUP T shfl_xor(T v, int mask) const { return __shfl_xor(v, mask, N); }
    KASSAY_GROUP unsigned ballot(int p) const {
        return __ballot(p) >> (__kassay_lane() & ~(N - 1)) & (unsigned)((1ull << N) - 1);
    }
    KASSAY_GROUP int any(int p) const { return ballot(p) != 0; }
    KASSAY_GROUP int all(int p) const { return ballot(p == 0) == 0; }
    KASSAY_GROUP operator thread_group() const { return thread_group{N, thread_rank(), true}; }
};
template <unsigned N, typename G> KASSAY_INNER thread_block_tile<N, G> tiled_partition(const G &) {
    return thread_block_tile<N, G>();
}
template <typename G> KASSAY_INNER thread_group tiled_partition(const G &, unsigned n) {
    return thread_group{n, __kassay_rank() % n, true};
}

__device__ unsigned __kassay_coalesced() KASSAY_ABSENT("coalesced_threads");
struct coalesced_group {
    unsigned lanes;
    KASSAY_GROUP void sync() const {}
    KASSAY_GROUP unsigned size() const { return (unsigned)__popc(lanes); }
    KASSAY_GROUP unsigned num_threads() const { return size(); }
    KASSAY_GROUP unsigned thread_rank() const { return (unsigned)__popc(lanes & ((1u << __kassay_lane()) - 1)); }
    template <typename T> KASSAY_GROUP T shfl(T v, int lane) const { return __shfl(v, lane); }
    template <typename T> KASSAY_GROUP T shfl_down(T v, unsigned delta) const { return __shfl_down(v, delta); }
    template <typename T> KASSAY_GROUP T shfl_up(T v, unsigned delta) const { return __shfl_up(v, delta); }
    template <typename T> KASSAY_GROUP T shfl_xor(T v, int mask) const { return __shfl_xor(v, mask); }
    KASSAY_GROUP unsigned ballot(int p) const { return __ballot(p); }
    KASSAY_GROUP int any(int p) const { return __any(p); }
    KASSAY_GROUP int all(int p) const { return __all(p); }
};
__device__ unsigned __kassay_partition() KASSAY_ABSENT("binary_partition");
template <typename G> KASSAY_INNER coalesced_group binary_partition(const G &, bool) {
    return coalesced_group{__kassay_partition()};
}
template <typename G, typename L> KASSAY_INNER coalesced_group labeled_partition(const G &, L) {
    return coalesced_group{__kassay_partition()};
}
KASSAY_INNER coalesced_group coalesced_threads() { return coalesced_group{__kassay_coalesced()}; }
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
