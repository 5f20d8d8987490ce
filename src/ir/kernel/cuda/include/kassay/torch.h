/* PyTorch's interface, as far as files with kernels for it have to parse: tensors are the host's, kernels get pointers
 * or packed accessors. */
#pragma once
#include <kassay/bfloat16.h>
#include <kassay/half.h>
#include <kassay/host_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace c10 {
typedef __half Half;
typedef __nv_bfloat16 BFloat16;
enum class ScalarType { Byte, Char, Short, Int, Long, Half, Float, Double, Bool, BFloat16 };
struct Device : kassay_unknown { using kassay_unknown::kassay_unknown; };
struct Scalar : kassay_unknown { using kassay_unknown::kassay_unknown; };
struct TensorOptions : kassay_unknown { using kassay_unknown::kassay_unknown; };
struct IntArrayRef : kassay_unknown { using kassay_unknown::kassay_unknown; };
template <typename T> using ArrayRef = ::std::vector<T>;
template <typename T> using optional = ::std::optional<T>;
static constexpr ::std::nullopt_t nullopt = ::std::nullopt;
template <typename T> struct complex { T re, im; };
} // namespace c10

namespace at {
using c10::ArrayRef; using c10::BFloat16; using c10::Device; using c10::Half; using c10::IntArrayRef; using c10::Scalar;
using c10::ScalarType; using c10::TensorOptions; using c10::nullopt; using c10::optional;
static constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short, kInt = ScalarType::Int,
    kLong = ScalarType::Long, kHalf = ScalarType::Half, kFloat = ScalarType::Float, kDouble = ScalarType::Double,
    kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16, kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt,
    kInt64 = kLong, kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;

template <typename T> struct DefaultPtrTraits { typedef T *PtrType; };
template <typename T> struct RestrictPtrTraits { typedef T *__restrict__ PtrType; };
/* A part of a packed accessor, with fewer dimensions. */
template <typename T, size_t N, template <typename> class P, typename I> struct TensorAccessor {
    T *data_;
    const I *sizes_, *strides_;
    KASSAY_MEMBER T *data() const { return data_; }
    KASSAY_MEMBER I size(I d) const { return sizes_[d]; }
    KASSAY_MEMBER I stride(I d) const { return strides_[d]; }
    KASSAY_MEMBER decltype(auto) operator[](I i) const {
        if constexpr (N == 1) return (data_[i * strides_[0]]);
        else return TensorAccessor<T, N - 1, P, I>{data_ + i * strides_[0], sizes_ + 1, strides_ + 1};
    }
};
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits, typename I = int64_t> struct GenericPackedTensorAccessor {
    T *data_;
    I sizes_[N], strides_[N];
    KASSAY_MEMBER T *data() const { return data_; }
    KASSAY_MEMBER I size(I d) const { return sizes_[d]; }
    KASSAY_MEMBER I stride(I d) const { return strides_[d]; }
    KASSAY_MEMBER decltype(auto) operator[](I i) const {
        if constexpr (N == 1) return (data_[i * strides_[0]]);
        else return TensorAccessor<T, N - 1, P, I>{data_ + i * strides_[0], sizes_ + 1, strides_ + 1};
    }
};
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits, typename I = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;

struct Tensor {
    template <typename T> T *data_ptr() const;
    template <typename T> T *mutable_data_ptr() const;
    template <typename T> const T *const_data_ptr() const;
    template <typename T> T *data() const;
    void *data_ptr() const;
    template <typename T> T item() const;
    template <typename T, size_t N, template <typename> class P = DefaultPtrTraits> PackedTensorAccessor32<T, N, P> packed_accessor32() const;
    template <typename T, size_t N, template <typename> class P = DefaultPtrTraits> PackedTensorAccessor64<T, N, P> packed_accessor64() const;
    template <typename T, size_t N, template <typename> class P = DefaultPtrTraits, typename I = int64_t>
    PackedTensorAccessor<T, N, P, I> packed_accessor() const;
    int64_t size(int64_t) const, stride(int64_t) const, dim() const, numel() const, element_size() const, get_device() const;
    ::std::vector<int64_t> sizes() const, strides() const;
    ScalarType scalar_type() const, dtype() const, type() const;
    TensorOptions options() const;
    Device device() const;
    bool is_cuda() const, is_contiguous() const, defined() const, requires_grad() const;
    Tensor contiguous() const, clone() const, cpu() const, cuda() const, detach() const;
    template <typename... A> Tensor to(A &&...) const;
    template <typename... A> Tensor view(A &&...) const;
    template <typename... A> Tensor reshape(A &&...) const;
    template <typename... A> Tensor transpose(A &&...) const;
    template <typename... A> Tensor permute(A &&...) const;
    template <typename... A> Tensor sum(A &&...) const;
    template <typename... A> Tensor slice(A &&...) const;
    template <typename... A> Tensor &fill_(A &&...) const;
    Tensor &zero_() const;
    template <typename I> Tensor operator[](I) const;
};
typedef ::std::vector<Tensor> TensorList;
#define KASSAY_TENSOR(NAME) template <typename... A> Tensor NAME(A &&...);
KASSAY_TENSOR(empty) KASSAY_TENSOR(empty_like) KASSAY_TENSOR(zeros) KASSAY_TENSOR(zeros_like) KASSAY_TENSOR(ones)
KASSAY_TENSOR(ones_like) KASSAY_TENSOR(full) KASSAY_TENSOR(full_like) KASSAY_TENSOR(arange) KASSAY_TENSOR(cat) KASSAY_TENSOR(stack)
KASSAY_TENSOR(sum) KASSAY_TENSOR(max) KASSAY_TENSOR(matmul) KASSAY_TENSOR(sigmoid) KASSAY_TENSOR(tanh) KASSAY_TENSOR(randn)
KASSAY_TENSOR(rand) KASSAY_TENSOR(tensor) KASSAY_TENSOR(from_blob) KASSAY_TENSOR(addmm)
/* The type in which sums of a type are taken. */
template <typename T, bool ON_DEVICE = true> struct __kassay_sum_type { typedef T type; };
template <> struct __kassay_sum_type<Half> { typedef float type; };
template <> struct __kassay_sum_type<BFloat16> { typedef float type; };
template <typename T, bool ON_DEVICE = true> using acc_type = typename __kassay_sum_type<T>::type;
template <typename T> using opmath_type = typename __kassay_sum_type<T>::type;
namespace cuda {
struct CUDAStream { operator cudaStream_t() const; cudaStream_t stream() const; };
struct CUDAGuard { template <typename... A> CUDAGuard(A &&...); };
typedef CUDAGuard OptionalCUDAGuard;
CUDAStream getCurrentCUDAStream(int = 0);
CUDAStream getDefaultCUDAStream(int = 0);
cudaDeviceProp *getCurrentDeviceProperties();
} // namespace cuda
} // namespace at
namespace c10 { namespace cuda { using at::cuda::CUDAGuard; using at::cuda::CUDAStream; using at::cuda::OptionalCUDAGuard; using at::cuda::getCurrentCUDAStream; } }
namespace torch {
using namespace at;
using ::c10::Device;
struct NoGradGuard {};
namespace autograd {}
} // namespace torch
namespace pybind11 {
struct module_ : kassay_unknown { template <typename... A> module_ &def(A &&...); };
struct arg : kassay_unknown { using kassay_unknown::kassay_unknown; template <typename T> arg &operator=(const T &); };
} // namespace pybind11
namespace py = pybind11;

#define PYBIND11_MODULE(NAME, VARIABLE) static void __kassay_python_module(pybind11::module_ &VARIABLE)
#define TORCH_LIBRARY(NAME, VARIABLE) static void __kassay_torch_library_##NAME(pybind11::module_ &VARIABLE)
#define TORCH_LIBRARY_FRAGMENT(NAME, VARIABLE) static void __kassay_torch_fragment_##NAME(pybind11::module_ &VARIABLE)
#define TORCH_LIBRARY_IMPL(NAME, KEY, VARIABLE) static void __kassay_torch_library_##NAME##_##KEY(pybind11::module_ &VARIABLE)
#define TORCH_CHECK(...) ((void)0)
#define TORCH_CHECK_EQ(...) ((void)0)
#define TORCH_INTERNAL_ASSERT(...) ((void)0)
#define AT_ASSERTM(...) ((void)0)
#define AT_ASSERT(...) ((void)0)
#define AT_ERROR(...) ((void)0)
#define C10_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define AT_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define TORCH_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define C10_DEVICE __device__
#define C10_HOST_DEVICE __host__ __device__
#define C10_LAUNCH_BOUNDS_1(N) __launch_bounds__(N)
/* What is dispatched over types is instantiated for each of them. */
#define KASSAY_DISPATCH(T, ...) [&] { using scalar_t = T; return __VA_ARGS__(); }();
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) KASSAY_DISPATCH(float, __VA_ARGS__) KASSAY_DISPATCH(double, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...)                                                           \
    AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, __VA_ARGS__) KASSAY_DISPATCH(c10::Half, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(OTHER, TYPE, NAME, ...) AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...)                                                         \
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, __VA_ARGS__) KASSAY_DISPATCH(c10::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) KASSAY_DISPATCH(int, __VA_ARGS__) KASSAY_DISPATCH(int64_t, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...)                                                                         \
    AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, __VA_ARGS__) AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, __VA_ARGS__)
