/* Thrust: its objects and functors for kernels. Containers and algorithms are the host's, which is not run. */
#pragma once
#include <kassay/complex_numbers.h>
#include <kassay/host_types.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

namespace thrust {
KASSAY_COMPLEX_NAMES
template <typename T, typename U> using pair = ::std::pair<T, U>;
template <typename... T> using tuple = ::std::tuple<T...>;
using ::std::get; using ::std::make_pair; using ::std::make_tuple; using ::std::swap; using ::std::tie; using ::std::tuple_size;
template <size_t I, typename T> struct tuple_element : ::std::tuple_element<I, T> {};

template <typename A, typename R> struct unary_function { typedef A argument_type; typedef R result_type; };
template <typename A, typename B, typename R> struct binary_function {
    typedef A first_argument_type;
    typedef B second_argument_type;
    typedef R result_type;
};
#define KASSAY_FUNCTOR(NAME, R, VALUE)                                                                                 \
    template <typename T = void> struct NAME { KASSAY_MEMBER constexpr R operator()(const T &a, const T &b) const { return VALUE; } }; \
    template <> struct NAME<void> {                                                                                    \
        template <typename A, typename B> KASSAY_MEMBER constexpr auto operator()(const A &a, const B &b) const { return VALUE; } \
    };
KASSAY_FUNCTOR(plus, T, a + b) KASSAY_FUNCTOR(minus, T, a - b) KASSAY_FUNCTOR(multiplies, T, a *b) KASSAY_FUNCTOR(divides, T, a / b)
KASSAY_FUNCTOR(modulus, T, a % b) KASSAY_FUNCTOR(maximum, T, a < b ? b : a) KASSAY_FUNCTOR(minimum, T, b < a ? b : a)
KASSAY_FUNCTOR(less, bool, a < b) KASSAY_FUNCTOR(greater, bool, b < a) KASSAY_FUNCTOR(less_equal, bool, !(b < a))
KASSAY_FUNCTOR(greater_equal, bool, !(a < b)) KASSAY_FUNCTOR(equal_to, bool, a == b) KASSAY_FUNCTOR(not_equal_to, bool, !(a == b))
KASSAY_FUNCTOR(logical_and, bool, a &&b) KASSAY_FUNCTOR(logical_or, bool, a || b) KASSAY_FUNCTOR(bit_and, T, a &b)
KASSAY_FUNCTOR(bit_or, T, a | b) KASSAY_FUNCTOR(bit_xor, T, a ^ b)
template <typename T = void> struct identity { KASSAY_MEMBER constexpr const T &operator()(const T &a) const { return a; } };
template <typename T = void> struct negate { KASSAY_MEMBER constexpr T operator()(const T &a) const { return -a; } };
template <typename T = void> struct square { KASSAY_MEMBER constexpr T operator()(const T &a) const { return a * a; } };
template <typename T = void> struct logical_not { KASSAY_MEMBER constexpr bool operator()(const T &a) const { return !a; } };

/* minstd_rand, as C++ defines it; numbers of distributions are kassay's own. */
struct minstd_rand {
    typedef unsigned result_type;
    unsigned state;
    static constexpr unsigned min = 1, max = 2147483646;
    KASSAY_MEMBER explicit minstd_rand(unsigned seed = 1) : state(seed % 2147483647u ? seed % 2147483647u : 1) {}
    KASSAY_MEMBER void seed(unsigned v) { *this = minstd_rand(v); }
    KASSAY_MEMBER unsigned operator()() { return state = (unsigned)((unsigned long long)state * 48271 % 2147483647u); }
    KASSAY_MEMBER void discard(unsigned long long n) { for (; n != 0; n--) (*this)(); }
};
typedef minstd_rand default_random_engine;
template <typename T = double> struct uniform_real_distribution {
    T a, b;
    KASSAY_MEMBER explicit uniform_real_distribution(T a = 0, T b = 1) : a(a), b(b) {}
    template <typename E> KASSAY_MEMBER T operator()(E &e) { return a + (b - a) * ((T)(e() - E::min) / ((T)(E::max - E::min) + 1)); }
};
template <typename T = int> struct uniform_int_distribution {
    T a, b;
    KASSAY_MEMBER explicit uniform_int_distribution(T a = 0, T b = ::std::numeric_limits<T>::max()) : a(a), b(b) {}
    template <typename E> KASSAY_MEMBER T operator()(E &e) {
        return a + (T)((double)(e() - E::min) / ((double)(E::max - E::min) + 1) * ((double)b - (double)a + 1));
    }
};
namespace random {
using thrust::default_random_engine; using thrust::minstd_rand; using thrust::uniform_int_distribution;
using thrust::uniform_real_distribution;
} // namespace random

struct execution_policy : kassay_unknown {
    using kassay_unknown::kassay_unknown;
    template <typename... A> const execution_policy &on(A &&...) const { return *this; }
    template <typename... A> const execution_policy &operator()(A &&...) const { return *this; }
};
static const execution_policy device, host, seq;
namespace cuda { static const execution_policy par, par_nosync; }
namespace hip { static const execution_policy par, par_nosync; }
namespace omp { static const execution_policy par; }
namespace system { namespace cuda { using thrust::cuda::par; } }

/* Containers of the host, whose members programs call in functions that are not run. */
template <typename T> struct device_reference {
    T v;
    operator T() const;
    template <typename U> device_reference &operator=(const U &);
};
template <typename T> struct device_ptr {
    typedef T value_type;
    typedef device_reference<T> reference;
    typedef long difference_type;
    typedef T *pointer;
    typedef ::std::random_access_iterator_tag iterator_category;
    T *p;
    device_ptr() = default;
    explicit device_ptr(T *p);
    T *get() const;
    reference operator*() const;
    reference operator[](size_t) const;
    device_ptr operator+(long) const;
    device_ptr operator-(long) const;
    long operator-(device_ptr) const;
    device_ptr &operator++();
    bool operator==(device_ptr) const;
    bool operator!=(device_ptr) const;
};
template <typename T> device_ptr<T> device_pointer_cast(T *);
template <typename T> T *raw_pointer_cast(device_ptr<T>);
template <typename T> T *raw_pointer_cast(T *);
template <typename T> T &raw_reference_cast(T &);
template <typename T> device_ptr<T> device_malloc(size_t);
template <typename T> void device_free(device_ptr<T>);
template <typename T, typename A = void> struct device_vector {
    typedef T value_type;
    typedef device_ptr<T> iterator, pointer, const_iterator;
    typedef device_reference<T> reference;
    template <typename... B> device_vector(B &&...);
    template <typename B> device_vector(::std::initializer_list<B>);
    template <typename B> device_vector &operator=(const B &);
    iterator begin() const, end() const;
    pointer data() const;
    reference operator[](size_t) const, front() const, back() const;
    size_t size() const, capacity() const;
    bool empty() const;
    void clear(), shrink_to_fit(), reserve(size_t), pop_back();
    template <typename... B> void resize(B &&...);
    template <typename... B> void assign(B &&...);
    template <typename... B> iterator insert(B &&...);
    template <typename... B> iterator erase(B &&...);
    template <typename B> void push_back(const B &);
    template <typename B> void swap(B &&);
};
template <typename T, typename A = void> struct universal_vector : device_vector<T> { using device_vector<T>::device_vector; };
template <typename T, typename A = void> struct host_vector : ::std::vector<T> {
    using ::std::vector<T>::vector;
    host_vector() = default;
    template <typename B> host_vector(const device_vector<T, B> &);
    template <typename B> host_vector &operator=(const device_vector<T, B> &);
};

#define KASSAY_OF_HOST(NAME) template <typename... A> kassay_unknown NAME(A &&...);
KASSAY_OF_HOST(adjacent_difference) KASSAY_OF_HOST(all_of) KASSAY_OF_HOST(any_of) KASSAY_OF_HOST(copy) KASSAY_OF_HOST(copy_if)
KASSAY_OF_HOST(copy_n) KASSAY_OF_HOST(count) KASSAY_OF_HOST(count_if) KASSAY_OF_HOST(distance) KASSAY_OF_HOST(equal)
KASSAY_OF_HOST(exclusive_scan) KASSAY_OF_HOST(exclusive_scan_by_key) KASSAY_OF_HOST(fill) KASSAY_OF_HOST(fill_n) KASSAY_OF_HOST(find)
KASSAY_OF_HOST(find_if) KASSAY_OF_HOST(for_each) KASSAY_OF_HOST(for_each_n) KASSAY_OF_HOST(gather) KASSAY_OF_HOST(generate)
KASSAY_OF_HOST(inclusive_scan) KASSAY_OF_HOST(inclusive_scan_by_key) KASSAY_OF_HOST(inner_product) KASSAY_OF_HOST(is_sorted)
KASSAY_OF_HOST(lower_bound) KASSAY_OF_HOST(max_element) KASSAY_OF_HOST(merge) KASSAY_OF_HOST(min_element) KASSAY_OF_HOST(minmax_element)
KASSAY_OF_HOST(partition) KASSAY_OF_HOST(reduce) KASSAY_OF_HOST(reduce_by_key) KASSAY_OF_HOST(remove) KASSAY_OF_HOST(remove_if)
KASSAY_OF_HOST(replace) KASSAY_OF_HOST(replace_if) KASSAY_OF_HOST(reverse) KASSAY_OF_HOST(scatter) KASSAY_OF_HOST(sequence)
KASSAY_OF_HOST(shuffle) KASSAY_OF_HOST(sort) KASSAY_OF_HOST(sort_by_key) KASSAY_OF_HOST(stable_sort) KASSAY_OF_HOST(stable_sort_by_key)
KASSAY_OF_HOST(tabulate) KASSAY_OF_HOST(transform) KASSAY_OF_HOST(transform_if) KASSAY_OF_HOST(transform_reduce)
KASSAY_OF_HOST(unique) KASSAY_OF_HOST(unique_by_key) KASSAY_OF_HOST(unique_copy) KASSAY_OF_HOST(upper_bound)
KASSAY_OF_HOST(make_zip_iterator) KASSAY_OF_HOST(make_transform_iterator) KASSAY_OF_HOST(make_permutation_iterator)
KASSAY_OF_HOST(make_constant_iterator) KASSAY_OF_HOST(make_discard_iterator) KASSAY_OF_HOST(make_reverse_iterator)
template <typename T> struct counting_iterator : kassay_unknown {
    T v;
    KASSAY_MEMBER explicit counting_iterator(T v = T()) : v(v) {}
    KASSAY_MEMBER T operator*() const { return v; }
    KASSAY_MEMBER T operator[](long i) const { return v + (T)i; }
    KASSAY_MEMBER counting_iterator operator+(long i) const { return counting_iterator(v + (T)i); }
};
template <typename T> KASSAY_BOTH counting_iterator<T> make_counting_iterator(T v) { return counting_iterator<T>(v); }
} // namespace thrust
