/* The complex numbers of libcu++ and Thrust, which are the same. */
#pragma once
#include <kassay/cuda.h>

template <typename T> struct __kassay_complex {
    typedef T value_type;
    T re, im;
    KASSAY_MEMBER constexpr __kassay_complex(T re = T(), T im = T()) : re(re), im(im) {}
    template <typename U> KASSAY_MEMBER constexpr __kassay_complex(const __kassay_complex<U> &o) : re((T)o.re), im((T)o.im) {}
    KASSAY_MEMBER constexpr T real() const { return re; }
    KASSAY_MEMBER constexpr T imag() const { return im; }
    KASSAY_MEMBER void real(T v) { re = v; }
    KASSAY_MEMBER void imag(T v) { im = v; }
    KASSAY_MEMBER __kassay_complex &operator+=(const __kassay_complex &o) { return *this = *this + o; }
    KASSAY_MEMBER __kassay_complex &operator-=(const __kassay_complex &o) { return *this = *this - o; }
    KASSAY_MEMBER __kassay_complex &operator*=(const __kassay_complex &o) { return *this = *this * o; }
    KASSAY_MEMBER __kassay_complex &operator/=(const __kassay_complex &o) { return *this = *this / o; }
    KASSAY_MEMBER friend __kassay_complex operator+(__kassay_complex a) { return a; }
    KASSAY_MEMBER friend __kassay_complex operator-(__kassay_complex a) { return {-a.re, -a.im}; }
    KASSAY_MEMBER friend __kassay_complex operator+(__kassay_complex a, __kassay_complex b) { return {a.re + b.re, a.im + b.im}; }
    KASSAY_MEMBER friend __kassay_complex operator-(__kassay_complex a, __kassay_complex b) { return {a.re - b.re, a.im - b.im}; }
    KASSAY_MEMBER friend __kassay_complex operator*(__kassay_complex a, __kassay_complex b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    /* Scaled, so that no square overflows. */
    KASSAY_MEMBER friend __kassay_complex operator/(__kassay_complex a, __kassay_complex b) {
        T scale = (b.re < 0 ? -b.re : b.re) + (b.im < 0 ? -b.im : b.im);
        T ar = a.re / scale, ai = a.im / scale, br = b.re / scale, bi = b.im / scale, norm = br * br + bi * bi;
        return {(ar * br + ai * bi) / norm, (ai * br - ar * bi) / norm};
    }
    KASSAY_MEMBER friend bool operator==(__kassay_complex a, __kassay_complex b) { return a.re == b.re && a.im == b.im; }
    KASSAY_MEMBER friend bool operator!=(__kassay_complex a, __kassay_complex b) { return !(a == b); }
};
template <typename T> KASSAY_BOTH T real(const __kassay_complex<T> &c) { return c.re; }
template <typename T> KASSAY_BOTH T imag(const __kassay_complex<T> &c) { return c.im; }
template <typename T> KASSAY_BOTH T norm(const __kassay_complex<T> &c) { return c.re * c.re + c.im * c.im; }
template <typename T> KASSAY_BOTH __kassay_complex<T> conj(const __kassay_complex<T> &c) { return {c.re, -c.im}; }
template <typename T> KASSAY_INNER T abs(const __kassay_complex<T> &c) { return hypot(c.re, c.im); }
template <typename T> KASSAY_INNER T arg(const __kassay_complex<T> &c) { return atan2(c.im, c.re); }
template <typename T> KASSAY_INNER __kassay_complex<T> __kassay_polar(T r, T angle) { return {r * cos(angle), r * sin(angle)}; }
template <typename T> KASSAY_INNER __kassay_complex<T> exp(const __kassay_complex<T> &c) { return __kassay_polar(exp(c.re), c.im); }
template <typename T> KASSAY_INNER __kassay_complex<T> log(const __kassay_complex<T> &c) { return {log(abs(c)), arg(c)}; }
template <typename T> KASSAY_INNER __kassay_complex<T> sqrt(const __kassay_complex<T> &c) {
    return __kassay_polar(sqrt(abs(c)), arg(c) / 2);
}
/* In the namespaces of both libraries. */
#define KASSAY_COMPLEX_NAMES                                                                                           \
    template <typename T> using complex = ::__kassay_complex<T>;                                                       \
    using ::abs; using ::arg; using ::conj; using ::exp; using ::imag; using ::log; using ::norm; using ::real; using ::sqrt; \
    template <typename T> KASSAY_INNER complex<T> polar(const T &r, const T &angle = T()) { return __kassay_polar(r, angle); }
