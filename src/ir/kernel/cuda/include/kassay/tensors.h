/* Tensor cores: declared, and refused where a kernel multiplies with them. */
#pragma once
#include <kassay/bfloat16.h>

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
template <typename T> struct __kassay_element { typedef T type; };
template <> struct __kassay_element<precision::tf32> { typedef float type; };
template <typename USE, int M, int N, int K, typename T, typename LAYOUT = void> struct fragment {
    static constexpr int num_elements = 8, num_storage_elements = 8;
    typename __kassay_element<T>::type x[num_elements];
};
__device__ void __kassay_wmma() KASSAY_ABSENT("wmma");
template <typename... A> KASSAY_INNER void fill_fragment(A &&...) { __kassay_wmma(); }
template <typename... A> KASSAY_INNER void load_matrix_sync(A &&...) { __kassay_wmma(); }
template <typename... A> KASSAY_INNER void store_matrix_sync(A &&...) { __kassay_wmma(); }
template <typename... A> KASSAY_INNER void mma_sync(A &&...) { __kassay_wmma(); }
template <typename... A> KASSAY_INNER void bmma_sync(A &&...) { __kassay_wmma(); }
KASSAY_INNER float __float_to_tf32(float x) { __kassay_wmma(); return x; }
} // namespace wmma
} // namespace nvcuda
