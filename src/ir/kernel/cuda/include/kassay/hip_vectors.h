/* HIP's arithmetic on vectors, by components. Templates, because functions that a program defines itself go first. */
#pragma once
#include <kassay/vectors.h>

template <typename V> struct __kassay_vector {};
#define KASSAY_COMPONENTS(T, NAME)                                                                                     \
    template <> struct __kassay_vector<NAME##1> { typedef T type; static const int count = 1; };                       \
    template <> struct __kassay_vector<NAME##2> { typedef T type; static const int count = 2; };                       \
    template <> struct __kassay_vector<NAME##3> { typedef T type; static const int count = 3; };                       \
    template <> struct __kassay_vector<NAME##4> { typedef T type; static const int count = 4; };
KASSAY_COMPONENTS(signed char, char)
KASSAY_COMPONENTS(unsigned char, uchar)
KASSAY_COMPONENTS(short, short)
KASSAY_COMPONENTS(unsigned short, ushort)
KASSAY_COMPONENTS(int, int)
KASSAY_COMPONENTS(unsigned, uint)
KASSAY_COMPONENTS(long, long)
KASSAY_COMPONENTS(unsigned long, ulong)
KASSAY_COMPONENTS(long long, longlong)
KASSAY_COMPONENTS(unsigned long long, ulonglong)
KASSAY_COMPONENTS(float, float)
KASSAY_COMPONENTS(double, double)

template <typename V> KASSAY_BOTH V __kassay_filled(typename __kassay_vector<V>::type s) {
    V v;
    v.x = s;
    if constexpr (__kassay_vector<V>::count > 1) v.y = s;
    if constexpr (__kassay_vector<V>::count > 2) v.z = s;
    if constexpr (__kassay_vector<V>::count > 3) v.w = s;
    return v;
}

#define KASSAY_OF_VECTORS template <typename V, typename T = typename __kassay_vector<V>::type> KASSAY_BOTH
#define KASSAY_VECTOR_OPERATOR(OP)                                                                                     \
    KASSAY_OF_VECTORS V operator OP(const V &a, const V &b) {                                                          \
        V v;                                                                                                           \
        v.x = (T)(a.x OP b.x);                                                                                         \
        if constexpr (__kassay_vector<V>::count > 1) v.y = (T)(a.y OP b.y);                                            \
        if constexpr (__kassay_vector<V>::count > 2) v.z = (T)(a.z OP b.z);                                            \
        if constexpr (__kassay_vector<V>::count > 3) v.w = (T)(a.w OP b.w);                                            \
        return v;                                                                                                      \
    }                                                                                                                  \
    KASSAY_OF_VECTORS V operator OP(const V &a, typename __kassay_vector<V>::type s) {                                 \
        return a OP __kassay_filled<V>(s);                                                                             \
    }                                                                                                                  \
    KASSAY_OF_VECTORS V operator OP(typename __kassay_vector<V>::type s, const V &b) {                                 \
        return __kassay_filled<V>(s) OP b;                                                                             \
    }                                                                                                                  \
    KASSAY_OF_VECTORS V &operator OP##=(V &a, const V &b) { return a = a OP b; }                                       \
    KASSAY_OF_VECTORS V &operator OP##=(V &a, typename __kassay_vector<V>::type s) { return a = a OP s; }
KASSAY_VECTOR_OPERATOR(+)
KASSAY_VECTOR_OPERATOR(-)
KASSAY_VECTOR_OPERATOR(*)
KASSAY_VECTOR_OPERATOR(/)
KASSAY_VECTOR_OPERATOR(%)
KASSAY_VECTOR_OPERATOR(&)
KASSAY_VECTOR_OPERATOR(|)
KASSAY_VECTOR_OPERATOR(^)
KASSAY_VECTOR_OPERATOR(<<)
KASSAY_VECTOR_OPERATOR(>>)

KASSAY_OF_VECTORS V operator-(const V &a) {
    V v;
    v.x = (T)-a.x;
    if constexpr (__kassay_vector<V>::count > 1) v.y = (T)-a.y;
    if constexpr (__kassay_vector<V>::count > 2) v.z = (T)-a.z;
    if constexpr (__kassay_vector<V>::count > 3) v.w = (T)-a.w;
    return v;
}
KASSAY_OF_VECTORS bool operator==(const V &a, const V &b) {
    bool same = a.x == b.x;
    if constexpr (__kassay_vector<V>::count > 1) same = same && a.y == b.y;
    if constexpr (__kassay_vector<V>::count > 2) same = same && a.z == b.z;
    if constexpr (__kassay_vector<V>::count > 3) same = same && a.w == b.w;
    return same;
}
KASSAY_OF_VECTORS bool operator!=(const V &a, const V &b) { return !(a == b); }
