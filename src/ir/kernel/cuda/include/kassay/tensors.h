/* Tensor cores. A warp's fragment is a matrix of which each lane has the same number of elements, in an order of kassay's
 * own (that of A and of accumulators by rows, of B by columns), as CUDA leaves it open. Products are exact, and summed
 * in the order of their index: of floats, of those of 16 bits too, as floats. */
#pragma once
#include <kassay/bfloat16.h>
#include <kassay/half.h>

namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision {
struct tf32 {};
struct s4 {};
struct u4 {};
struct b1 {};
} // namespace precision
namespace experimental {
namespace precision = wmma::precision;
}
enum layout_t { mem_row_major, mem_col_major };
__device__ void __kassay_wmma() KASSAY_ABSENT("wmma with elements of less than 8 bits");

/* Of an element: how it is stored, and as what it is multiplied and summed. */
template <typename T> struct __kassay_element { typedef T type; typedef float sum; };
template <> struct __kassay_element<precision::tf32> { typedef float type; typedef float sum; };
template <> struct __kassay_element<double> { typedef double type; typedef double sum; };
template <> struct __kassay_element<signed char> { typedef signed char type; typedef int sum; };
template <> struct __kassay_element<char> { typedef char type; typedef int sum; };
template <> struct __kassay_element<unsigned char> { typedef unsigned char type; typedef int sum; };
template <> struct __kassay_element<int> { typedef int type; typedef int sum; };
template <typename T> struct __kassay_part_of_byte { static constexpr bool is = false; };
#define KASSAY_PART_OF_BYTE(T)                                                                                         \
    template <> struct __kassay_element<precision::T> { typedef int type; typedef int sum; };                          \
    template <> struct __kassay_part_of_byte<precision::T> { static constexpr bool is = true; };
KASSAY_PART_OF_BYTE(s4) KASSAY_PART_OF_BYTE(u4) KASSAY_PART_OF_BYTE(b1)
template <typename U, int M, int N, int K> struct __kassay_shape { static constexpr int rows = M, columns = N; };
template <int M, int N, int K> struct __kassay_shape<matrix_a, M, N, K> { static constexpr int rows = M, columns = K; };
template <int M, int N, int K> struct __kassay_shape<matrix_b, M, N, K> { static constexpr int rows = K, columns = N; };
template <typename L> struct __kassay_layout { static constexpr layout_t is = mem_col_major; };
template <> struct __kassay_layout<row_major> { static constexpr layout_t is = mem_row_major; };

template <typename U, int M, int N, int K, typename T, typename LAYOUT = void> struct fragment {
    typedef typename __kassay_element<T>::type element_type, storage_element_type;
    static constexpr int ROWS = __kassay_shape<U, M, N, K>::rows, COLUMNS = __kassay_shape<U, M, N, K>::columns;
    static constexpr int num_elements = ROWS * COLUMNS / 32, num_storage_elements = num_elements;
    element_type x[num_elements];
};
/* Of `bits`, a tf32 has the upper 19. */
KASSAY_INNER float __kassay_tf32(float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000u); }
template <typename T, typename V> KASSAY_INNER typename __kassay_element<T>::sum __kassay_factor(V v) {
    if constexpr (__is_same(T, precision::tf32)) return __kassay_tf32(v);
    else return (typename __kassay_element<T>::sum)v;
}
/* The place of a lane's element in memory. */
template <typename U, int M, int N, int K, typename T, typename L>
KASSAY_INNER size_t __kassay_place(const fragment<U, M, N, K, T, L> &f, int e, unsigned pitch, layout_t layout) {
    unsigned i = __kassay_lane() * f.num_elements + e;
    unsigned row = __is_same(U, matrix_b) ? i % f.ROWS : i / f.COLUMNS, column = __is_same(U, matrix_b) ? i / f.ROWS : i % f.COLUMNS;
    return layout == mem_row_major ? (size_t)row * pitch + column : (size_t)column * pitch + row;
}

template <typename F, typename V> KASSAY_INNER void fill_fragment(F &f, const V &v) {
    for (int e = 0; e < F::num_elements; e++) f.x[e] = (typename F::element_type)v;
}
template <typename U, int M, int N, int K, typename T, typename L, typename P>
KASSAY_INNER void load_matrix_sync(fragment<U, M, N, K, T, L> &f, const P *from, unsigned pitch) {
    if constexpr (__kassay_part_of_byte<T>::is) __kassay_wmma();
    __kassay_warp_any(KASSAY_ALL_LANES, 1);
    for (int e = 0; e < f.num_elements; e++) f.x[e] = from[__kassay_place(f, e, pitch, __kassay_layout<L>::is)];
}
template <typename U, int M, int N, int K, typename T, typename L, typename P>
KASSAY_INNER void load_matrix_sync(fragment<U, M, N, K, T, L> &f, const P *from, unsigned pitch, layout_t layout) {
    __kassay_warp_any(KASSAY_ALL_LANES, 1);
    for (int e = 0; e < f.num_elements; e++) f.x[e] = from[__kassay_place(f, e, pitch, layout)];
}
template <typename U, int M, int N, int K, typename T, typename L, typename P>
KASSAY_INNER void store_matrix_sync(P *to, const fragment<U, M, N, K, T, L> &f, unsigned pitch, layout_t layout) {
    __kassay_warp_any(KASSAY_ALL_LANES, 1);
    for (int e = 0; e < f.num_elements; e++) to[__kassay_place(f, e, pitch, layout)] = f.x[e];
}
template <int M, int N, int K, typename A, typename B, typename C, typename D, typename L, typename R>
KASSAY_INNER void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, A, L> &a,
                           const fragment<matrix_b, M, N, K, B, R> &b, const fragment<accumulator, M, N, K, C> &c, bool = false) {
    typedef typename __kassay_element<C>::sum Sum;
    constexpr int own = M * N / 32, of_a = M * K / 32, of_b = K * N / 32;
    static_assert(K % of_a == 0 && K % of_b == 0 && N % own == 0, "a shape of CUDA's");
    /* The lane's elements are in one row. */
    unsigned row = __kassay_lane() * own / N, first = __kassay_lane() * own % N;
    Sum sums[own];
    for (int e = 0; e < own; e++) sums[e] = (Sum)c.x[e];
    for (int k = 0; k < K; k++) {
        Sum left = __kassay_shuffle(KASSAY_ALL_LANES, __kassay_factor<A>(a.x[k % of_a]), (row * K + k) / of_a);
        for (int e = 0; e < own; e++) {
            Sum right = __kassay_shuffle(KASSAY_ALL_LANES, __kassay_factor<B>(b.x[k % of_b]), ((first + e) * K + k) / of_b);
            if constexpr (__is_same(Sum, double)) sums[e] = fma(left, right, sums[e]);
            else sums[e] += left * right;
        }
    }
    for (int e = 0; e < own; e++) d.x[e] = (typename __kassay_element<D>::type)sums[e];
}
template <typename... A> KASSAY_INNER void bmma_sync(A &&...) { __kassay_wmma(); }
/* To the nearest; of two, to the one away from zero. */
KASSAY_INNER float __float_to_tf32(float x) {
    return x - x == 0 ? __kassay_tf32(__uint_as_float(__float_as_uint(x) + 0x1000u)) : x;
}
} // namespace wmma
} // namespace nvcuda
