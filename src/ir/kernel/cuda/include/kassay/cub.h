/* CUB's collectives of blocks and warps, and hipCUB's: their results are CUB's but for the order in which floats are
 * summed. What is for whole devices is the host's, and does nothing. */
#pragma once
/* As CUB's own does, on which programs rely. */
#include <kassay/bfloat16.h>

/* `hipcub` where the program includes hipCUB's header (hipcub.h), which may call it `cub`. */
#ifndef KASSAY_COLLECTIVES
#define KASSAY_COLLECTIVES cub
#endif
namespace KASSAY_COLLECTIVES {
#define KASSAY_CUB KASSAY_DEVICE_MEMBER
KASSAY_INNER int __kassay_thread() { return (int)__kassay_linear_id(); }

struct NullType {};
struct Sum { template <typename T> KASSAY_MEMBER T operator()(const T &a, const T &b) const { return a + b; } };
struct Max { template <typename T> KASSAY_MEMBER T operator()(const T &a, const T &b) const { return a < b ? b : a; } };
struct Min { template <typename T> KASSAY_MEMBER T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
struct Equality { template <typename T> KASSAY_MEMBER bool operator()(const T &a, const T &b) const { return a == b; } };
struct Inequality { template <typename T> KASSAY_MEMBER bool operator()(const T &a, const T &b) const { return !(a == b); } };
template <typename K, typename V> struct KeyValuePair {
    typedef K Key;
    typedef V Value;
    K key;
    V value;
    KeyValuePair() = default;
    KASSAY_MEMBER KeyValuePair(const K &k, const V &v) : key(k), value(v) {}
};
/* Of equal values, the one with the lower key. */
struct ArgMax {
    template <typename P> KASSAY_MEMBER P operator()(const P &a, const P &b) const {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <typename P> KASSAY_MEMBER P operator()(const P &a, const P &b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

/* Values in such memory, which nothing constructs: it may be in a union. */
template <typename T, int N, bool = __is_trivially_constructible(T)> struct __kassay_values { typedef T type[N]; };
template <typename T, int N> struct __kassay_values<T, N, false> {
    struct type {
        alignas(T) unsigned char bytes[N * sizeof(T)];
        KASSAY_CUB T &operator[](int i) { return ((T *)bytes)[i]; }
    };
};
/* The memory of a collective: the program's, or the collective's own. */
#define KASSAY_STORAGE(NAME, ...)                                                                                      \
    struct TempStorage { __VA_ARGS__ };                                                                                \
    TempStorage &storage;                                                                                              \
    KASSAY_CUB NAME() : storage(shared()) {}                                                                           \
    KASSAY_CUB NAME(TempStorage &given) : storage(given) {}                                                            \
    static KASSAY_CUB TempStorage &shared() {                                                                          \
        __shared__ TempStorage own;                                                                                    \
        return own;                                                                                                    \
    }

/* The result is the first thread's, as CUB's is. */
template <typename T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
struct BlockReduce {
    static constexpr int SIZE = X * Y * Z;
    KASSAY_STORAGE(BlockReduce, typename __kassay_values<T, SIZE>::type values;)
    /* Neighbours first, because an operator need not commute. */
    template <typename F> KASSAY_CUB T Reduce(T v, F f, int valid) {
        int rank = __kassay_thread();
        storage.values[rank] = v;
        for (int d = 1; d < SIZE; d *= 2) {
            __kassay_barrier(KASSAY_ALL_MEMORY);
            if (rank % (2 * d) == 0 && rank + d < valid)
                storage.values[rank] = v = f(v, storage.values[rank + d]);
        }
        return v;
    }
    template <typename F> KASSAY_CUB T Reduce(T v, F f) { return Reduce(v, f, SIZE); }
    template <int N, typename F> KASSAY_CUB T Reduce(T (&items)[N], F f) { return Reduce(own(items, f), f, SIZE); }
    KASSAY_CUB T Sum(T v) { return Reduce(v, KASSAY_COLLECTIVES::Sum(), SIZE); }
    KASSAY_CUB T Sum(T v, int valid) { return Reduce(v, KASSAY_COLLECTIVES::Sum(), valid); }
    template <int N> KASSAY_CUB T Sum(T (&items)[N]) { return Reduce(items, KASSAY_COLLECTIVES::Sum()); }
    template <int N, typename F> static KASSAY_CUB T own(T (&items)[N], F f) {
        T v = items[0];
        for (int i = 1; i < N; i++) v = f(v, items[i]);
        return v;
    }
};

template <typename T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0> struct BlockScan {
    static constexpr int SIZE = X * Y * Z;
    KASSAY_STORAGE(BlockScan, typename __kassay_values<T, SIZE>::type values;)
    /* Returns what is before the thread's own value: nothing for the first one. */
    template <typename F> KASSAY_CUB T before(T v, F f, T &inclusive, T &total) {
        int rank = __kassay_thread();
        storage.values[rank] = v;
        for (int d = 1; d < SIZE; d *= 2) {
            __kassay_barrier(KASSAY_ALL_MEMORY);
            T other = rank >= d ? storage.values[rank - d] : v;
            __kassay_barrier(KASSAY_ALL_MEMORY);
            if (rank >= d) storage.values[rank] = v = f(other, v);
        }
        __kassay_barrier(KASSAY_ALL_MEMORY);
        inclusive = v;
        total = storage.values[SIZE - 1];
        return rank > 0 ? storage.values[rank - 1] : v;
    }
    template <typename F> KASSAY_CUB void InclusiveScan(T in, T &out, F f, T &total) { before(in, f, out, total); }
    template <typename F> KASSAY_CUB void InclusiveScan(T in, T &out, F f) {
        T total;
        before(in, f, out, total);
    }
    template <typename F> KASSAY_CUB void ExclusiveScan(T in, T &out, T first, F f, T &total) {
        T inclusive, previous = before(in, f, inclusive, total);
        out = __kassay_thread() > 0 ? f(first, previous) : first;
    }
    template <typename F> KASSAY_CUB void ExclusiveScan(T in, T &out, T first, F f) {
        T total;
        ExclusiveScan(in, out, first, f, total);
    }
    KASSAY_CUB void InclusiveSum(T in, T &out, T &total) { InclusiveScan(in, out, KASSAY_COLLECTIVES::Sum(), total); }
    KASSAY_CUB void InclusiveSum(T in, T &out) { InclusiveScan(in, out, KASSAY_COLLECTIVES::Sum()); }
    KASSAY_CUB void ExclusiveSum(T in, T &out, T &total) { ExclusiveScan(in, out, T(), KASSAY_COLLECTIVES::Sum(), total); }
    KASSAY_CUB void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(), KASSAY_COLLECTIVES::Sum()); }
    /* A callback tells what is before the block, given the block's sum; each thread has its own. */
    template <typename C> KASSAY_CUB void InclusiveSum(T in, T &out, C &callback) {
        T total;
        InclusiveSum(in, out, total);
        out = callback(total) + out;
    }
    template <typename C> KASSAY_CUB void ExclusiveSum(T in, T &out, C &callback) {
        T total;
        ExclusiveSum(in, out, total);
        out = callback(total) + out;
    }
    template <int N, typename F> KASSAY_CUB void InclusiveScan(T (&in)[N], T (&out)[N], F f, T &total) {
        T own[N];
        own[0] = in[0];
        for (int i = 1; i < N; i++) own[i] = f(own[i - 1], in[i]);
        T inclusive, previous = before(own[N - 1], f, inclusive, total);
        for (int i = 0; i < N; i++) out[i] = __kassay_thread() > 0 ? f(previous, own[i]) : own[i];
    }
    template <int N, typename F> KASSAY_CUB void InclusiveScan(T (&in)[N], T (&out)[N], F f) {
        T total;
        InclusiveScan(in, out, f, total);
    }
    template <int N, typename F> KASSAY_CUB void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F f, T &total) {
        T sum = in[0];
        for (int i = 1; i < N; i++) sum = f(sum, in[i]);
        T inclusive, previous = before(sum, f, inclusive, total);
        T so_far = __kassay_thread() > 0 ? f(first, previous) : first;
        for (int i = 0; i < N; i++) {
            T next = f(so_far, in[i]);
            out[i] = so_far;
            so_far = next;
        }
    }
    template <int N, typename F> KASSAY_CUB void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F f) {
        T total;
        ExclusiveScan(in, out, first, f, total);
    }
    template <int N> KASSAY_CUB void InclusiveSum(T (&in)[N], T (&out)[N], T &total) { InclusiveScan(in, out, KASSAY_COLLECTIVES::Sum(), total); }
    template <int N> KASSAY_CUB void InclusiveSum(T (&in)[N], T (&out)[N]) { InclusiveScan(in, out, KASSAY_COLLECTIVES::Sum()); }
    template <int N> KASSAY_CUB void ExclusiveSum(T (&in)[N], T (&out)[N], T &total) {
        ExclusiveScan(in, out, T(), KASSAY_COLLECTIVES::Sum(), total);
    }
    template <int N> KASSAY_CUB void ExclusiveSum(T (&in)[N], T (&out)[N]) { ExclusiveScan(in, out, T(), KASSAY_COLLECTIVES::Sum()); }
};

/* Lanes exchange values, and need no storage. */
template <typename T, int W = 32, int = 0> struct WarpReduce {
    struct TempStorage {};
    KASSAY_CUB WarpReduce(TempStorage &) {}
    template <typename F> KASSAY_CUB T Reduce(T v, F f, int valid) {
        int lane = (int)__kassay_lane() % W;
        for (int d = 1; d < W; d *= 2) {
            T other = __shfl_down(v, d, W);
            if (lane % (2 * d) == 0 && lane + d < valid) v = f(v, other);
        }
        return v;
    }
    template <typename F> KASSAY_CUB T Reduce(T v, F f) { return Reduce(v, f, W); }
    KASSAY_CUB T Sum(T v) { return Reduce(v, KASSAY_COLLECTIVES::Sum(), W); }
    KASSAY_CUB T Sum(T v, int valid) { return Reduce(v, KASSAY_COLLECTIVES::Sum(), valid); }
};

template <typename T, int W = 32, int = 0> struct WarpScan {
    struct TempStorage {};
    KASSAY_CUB WarpScan(TempStorage &) {}
    template <typename F> KASSAY_CUB void InclusiveScan(T in, T &out, F f) {
        int lane = (int)__kassay_lane() % W;
        for (int d = 1; d < W; d *= 2) {
            T other = __shfl_up(in, d, W);
            if (lane >= d) in = f(other, in);
        }
        out = in;
    }
    template <typename F> KASSAY_CUB void InclusiveScan(T in, T &out, F f, T &total) {
        InclusiveScan(in, out, f);
        total = __shfl(out, W - 1, W);
    }
    template <typename F> KASSAY_CUB void ExclusiveScan(T in, T &out, T first, F f) {
        T inclusive;
        InclusiveScan(in, inclusive, f);
        T previous = __shfl_up(inclusive, 1, W);
        out = __kassay_lane() % W > 0 ? f(first, previous) : first;
    }
    KASSAY_CUB void InclusiveSum(T in, T &out) { InclusiveScan(in, out, KASSAY_COLLECTIVES::Sum()); }
    KASSAY_CUB void InclusiveSum(T in, T &out, T &total) { InclusiveScan(in, out, KASSAY_COLLECTIVES::Sum(), total); }
    KASSAY_CUB void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(), KASSAY_COLLECTIVES::Sum()); }
    KASSAY_CUB void ExclusiveSum(T in, T &out, T &total) {
        T inclusive;
        InclusiveSum(in, inclusive, total);
        ExclusiveSum(in, out);
    }
    KASSAY_CUB T Broadcast(T v, unsigned lane) { return __shfl(v, (int)lane, W); }
};

template <typename T, int N, typename I> KASSAY_INNER void LoadDirectBlocked(int thread, I from, T (&items)[N]) {
    for (int i = 0; i < N; i++) items[i] = from[thread * N + i];
}
template <int X, typename T, int N, typename I> KASSAY_INNER void LoadDirectStriped(int thread, I from, T (&items)[N]) {
    for (int i = 0; i < N; i++) items[i] = from[thread + i * X];
}
template <typename T, int N, typename O> KASSAY_INNER void StoreDirectBlocked(int thread, O to, T (&items)[N]) {
    for (int i = 0; i < N; i++) to[thread * N + i] = items[i];
}
template <int X, typename T, int N, typename O> KASSAY_INNER void StoreDirectStriped(int thread, O to, T (&items)[N]) {
    for (int i = 0; i < N; i++) to[thread + i * X] = items[i];
}

template <typename T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0> struct BlockLoad {
    struct TempStorage {};
    KASSAY_CUB BlockLoad() {}
    KASSAY_CUB BlockLoad(TempStorage &) {}
    static KASSAY_CUB int place(int i) {
        return A == BLOCK_LOAD_STRIPED ? __kassay_thread() + i * X * Y * Z : __kassay_thread() * N + i;
    }
    template <typename I> KASSAY_CUB void Load(I from, T (&items)[N]) {
        for (int i = 0; i < N; i++) items[i] = from[place(i)];
    }
    template <typename I> KASSAY_CUB void Load(I from, T (&items)[N], int valid) {
        for (int i = 0; i < N; i++)
            if (place(i) < valid) items[i] = from[place(i)];
    }
    template <typename I, typename D> KASSAY_CUB void Load(I from, T (&items)[N], int valid, D other) {
        for (int i = 0; i < N; i++) items[i] = place(i) < valid ? (T)from[place(i)] : (T)other;
    }
};

template <typename T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0>
struct BlockStore {
    struct TempStorage {};
    KASSAY_CUB BlockStore() {}
    KASSAY_CUB BlockStore(TempStorage &) {}
    static KASSAY_CUB int place(int i) {
        return A == BLOCK_STORE_STRIPED ? __kassay_thread() + i * X * Y * Z : __kassay_thread() * N + i;
    }
    template <typename O> KASSAY_CUB void Store(O to, T (&items)[N]) {
        for (int i = 0; i < N; i++) to[place(i)] = items[i];
    }
    template <typename O> KASSAY_CUB void Store(O to, T (&items)[N], int valid) {
        for (int i = 0; i < N; i++)
            if (place(i) < valid) to[place(i)] = items[i];
    }
};

template <typename T, int X, int N, bool = false, int Y = 1, int Z = 1, int = 0> struct BlockExchange {
    static constexpr int SIZE = X * Y * Z;
    KASSAY_STORAGE(BlockExchange, typename __kassay_values<T, SIZE * N>::type values;)
    static KASSAY_CUB int blocked(int i) { return __kassay_thread() * N + i; }
    static KASSAY_CUB int striped(int i) { return __kassay_thread() + i * SIZE; }
    static KASSAY_CUB int warp_striped(int i) { return __kassay_thread() / 32 * 32 * N + i * 32 + __kassay_thread() % 32; }
    template <typename P, typename Q, typename U> KASSAY_CUB void move(const T (&in)[N], U (&out)[N], P put, Q get) {
        for (int i = 0; i < N; i++) storage.values[put(i)] = in[i];
        __kassay_barrier(KASSAY_ALL_MEMORY);
        for (int i = 0; i < N; i++) out[i] = storage.values[get(i)];
    }
#define KASSAY_EXCHANGE(NAME, PUT, GET)                                                                                \
    template <typename U> KASSAY_CUB void NAME(const T (&in)[N], U (&out)[N]) { move(in, out, PUT, GET); }             \
    KASSAY_CUB void NAME(T (&items)[N]) { move(items, items, PUT, GET); }
    KASSAY_EXCHANGE(BlockedToStriped, blocked, striped)
    KASSAY_EXCHANGE(StripedToBlocked, striped, blocked)
    KASSAY_EXCHANGE(BlockedToWarpStriped, blocked, warp_striped)
    KASSAY_EXCHANGE(WarpStripedToBlocked, warp_striped, blocked)
#define KASSAY_SCATTER(NAME, GET)                                                                                      \
    template <typename U, typename R> KASSAY_CUB void NAME(const T (&in)[N], U (&out)[N], R (&ranks)[N]) {             \
        for (int i = 0; i < N; i++) storage.values[ranks[i]] = in[i];                                                  \
        __kassay_barrier(KASSAY_ALL_MEMORY);                                                                           \
        for (int i = 0; i < N; i++) out[i] = storage.values[GET(i)];                                                   \
    }                                                                                                                  \
    template <typename R> KASSAY_CUB void NAME(T (&items)[N], R (&ranks)[N]) { NAME(items, items, ranks); }
    KASSAY_SCATTER(ScatterToBlocked, blocked)
    KASSAY_SCATTER(ScatterToStriped, striped)
};

/* Each key counts those that come before it. Equal ones keep their order. */
template <typename K, int X, int N, typename V = NullType, int = 4, bool = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS,
          int = 0, int Y = 1, int Z = 1, int = 0>
struct BlockRadixSort {
    static constexpr int SIZE = X * Y * Z * N;
    KASSAY_STORAGE(BlockRadixSort, K keys[SIZE]; V values[SIZE];)
    KASSAY_CUB void place(K (&keys)[N], int (&ranks)[N], bool falls) {
        int first = __kassay_thread() * N;
        for (int i = 0; i < N; i++) storage.keys[first + i] = keys[i];
        __kassay_barrier(KASSAY_ALL_MEMORY);
        for (int i = 0; i < N; i++) {
            ranks[i] = 0;
            for (int j = 0; j < SIZE; j++) {
                K other = storage.keys[j];
                bool before = falls ? keys[i] < other : other < keys[i];
                bool after = falls ? other < keys[i] : keys[i] < other;
                ranks[i] += before || (!after && j < first + i);
            }
        }
        __kassay_barrier(KASSAY_ALL_MEMORY);
        for (int i = 0; i < N; i++) storage.keys[ranks[i]] = keys[i];
        __kassay_barrier(KASSAY_ALL_MEMORY);
        for (int i = 0; i < N; i++) keys[i] = storage.keys[first + i];
    }
    KASSAY_CUB void move(V (&values)[N], int (&ranks)[N]) {
        for (int i = 0; i < N; i++) storage.values[ranks[i]] = values[i];
        __kassay_barrier(KASSAY_ALL_MEMORY);
        for (int i = 0; i < N; i++) values[i] = storage.values[__kassay_thread() * N + i];
    }
#define KASSAY_SORT(NAME, FALLS)                                                                                       \
    KASSAY_CUB void NAME(K (&keys)[N]) {                                                                               \
        int ranks[N];                                                                                                  \
        place(keys, ranks, FALLS);                                                                                     \
    }                                                                                                                  \
    KASSAY_CUB void NAME(K (&keys)[N], V (&values)[N]) {                                                               \
        int ranks[N];                                                                                                  \
        place(keys, ranks, FALLS);                                                                                     \
        move(values, ranks);                                                                                           \
    }
    KASSAY_SORT(Sort, false) KASSAY_SORT(SortDescending, true)
};

/* What CUB says of lanes and warps, and its accesses with hints about caches, which change no value. */
KASSAY_INNER unsigned LaneId() { return __kassay_lane(); }
KASSAY_INNER unsigned WarpId() { return (unsigned)__kassay_thread() / 32; }
KASSAY_INNER unsigned LaneMaskLt() { return (1u << __kassay_lane()) - 1; }
KASSAY_INNER unsigned LaneMaskLe() { return (2u << __kassay_lane()) - 1; }
KASSAY_INNER unsigned LaneMaskGt() { return ~LaneMaskLe(); }
KASSAY_INNER unsigned LaneMaskGe() { return ~LaneMaskLt(); }
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier = LOAD_DEFAULT, typename T> KASSAY_INNER T ThreadLoad(const T *p) { return *p; }
template <CacheStoreModifier = STORE_DEFAULT, typename T> KASSAY_INNER void ThreadStore(T *p, T v) { *p = v; }
template <int N, typename T> KASSAY_INNER T ShuffleIndex(T v, int lane, unsigned mask) { return __shfl_sync(mask, v, lane, N); }
template <int N, typename T> KASSAY_INNER T ShuffleUp(T v, int delta, int first, unsigned mask) {
    T other = __shfl_up_sync(mask, v, delta, N);
    return (int)__kassay_lane() - delta < first ? v : other;
}
template <int N, typename T> KASSAY_INNER T ShuffleDown(T v, int delta, int last, unsigned mask) {
    T other = __shfl_down_sync(mask, v, delta, N);
    return (int)__kassay_lane() + delta > last ? v : other;
}
struct CachingDeviceAllocator {
    template <typename... A> CachingDeviceAllocator(A &&...);
    template <typename... A> cudaError_t DeviceAllocate(A &&...);
    template <typename... A> cudaError_t DeviceFree(A &&...);
};

#define KASSAY_OF_DEVICE(NAME) template <typename... A> static cudaError_t NAME(A &&...) { return cudaSuccess; }
struct DeviceReduce {
    KASSAY_OF_DEVICE(Reduce) KASSAY_OF_DEVICE(Sum) KASSAY_OF_DEVICE(Min) KASSAY_OF_DEVICE(Max) KASSAY_OF_DEVICE(ArgMin)
    KASSAY_OF_DEVICE(ArgMax) KASSAY_OF_DEVICE(ReduceByKey)
};
struct DeviceSegmentedReduce { KASSAY_OF_DEVICE(Reduce) KASSAY_OF_DEVICE(Sum) KASSAY_OF_DEVICE(Min) KASSAY_OF_DEVICE(Max) };
struct DeviceScan {
    KASSAY_OF_DEVICE(ExclusiveSum) KASSAY_OF_DEVICE(InclusiveSum) KASSAY_OF_DEVICE(ExclusiveScan) KASSAY_OF_DEVICE(InclusiveScan)
};
struct DeviceRadixSort {
    KASSAY_OF_DEVICE(SortKeys) KASSAY_OF_DEVICE(SortKeysDescending) KASSAY_OF_DEVICE(SortPairs) KASSAY_OF_DEVICE(SortPairsDescending)
};
struct DeviceSelect { KASSAY_OF_DEVICE(If) KASSAY_OF_DEVICE(Flagged) KASSAY_OF_DEVICE(Unique) };
struct DeviceHistogram { KASSAY_OF_DEVICE(HistogramEven) KASSAY_OF_DEVICE(HistogramRange) };
struct DeviceRunLengthEncode { KASSAY_OF_DEVICE(Encode) };
} // namespace KASSAY_COLLECTIVES
