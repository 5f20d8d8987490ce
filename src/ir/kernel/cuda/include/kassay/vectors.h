/* Vector types, `dim3`, and functions that make them. */
#pragma once
#include <kassay/attributes.h>

/* Those with two and four components are aligned to their size, to 16 bytes at most. */
#define KASSAY_VECTORS(T, NAME, ALIGN2, ALIGN4)                                                                        \
    struct NAME##1 { T x; };                                                                                           \
    struct __attribute__((aligned(ALIGN2))) NAME##2 { T x, y; };                                                       \
    struct NAME##3 { T x, y, z; };                                                                                     \
    struct __attribute__((aligned(ALIGN4))) NAME##4 { T x, y, z, w; };                                                 \
    KASSAY_BOTH NAME##1 make_##NAME##1(T x) { return NAME##1{x}; }                                                     \
    KASSAY_BOTH NAME##2 make_##NAME##2(T x, T y) { return NAME##2{x, y}; }                                             \
    KASSAY_BOTH NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3{x, y, z}; }                                     \
    KASSAY_BOTH NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4{x, y, z, w}; }
KASSAY_VECTORS(signed char, char, 2, 4)
KASSAY_VECTORS(unsigned char, uchar, 2, 4)
KASSAY_VECTORS(short, short, 4, 8)
KASSAY_VECTORS(unsigned short, ushort, 4, 8)
KASSAY_VECTORS(int, int, 8, 16)
KASSAY_VECTORS(unsigned, uint, 8, 16)
KASSAY_VECTORS(long, long, 16, 16)
KASSAY_VECTORS(unsigned long, ulong, 16, 16)
KASSAY_VECTORS(long long, longlong, 16, 16)
KASSAY_VECTORS(unsigned long long, ulonglong, 16, 16)
KASSAY_VECTORS(float, float, 8, 16)
KASSAY_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    KASSAY_MEMBER constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    KASSAY_MEMBER constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    KASSAY_MEMBER constexpr operator uint3() const { return uint3{x, y, z}; }
};
