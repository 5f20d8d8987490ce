/* Complex numbers as pairs. */
#pragma once
#include <kassay/cuda.h>

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
KASSAY_BOTH cuComplex make_cuComplex(float x, float y) { return cuComplex{x, y}; }
KASSAY_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return cuDoubleComplex{a.x, a.y}; }
KASSAY_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return cuFloatComplex{(float)a.x, (float)a.y}; }
/* F: the letter that ends the functions' names, and those of the mathematics. */
#define KASSAY_COMPLEX(C, T, F)                                                                                        \
    KASSAY_BOTH C make_##C(T x, T y) { return C{x, y}; }                                                               \
    KASSAY_BOTH T cuCreal##F(C a) { return a.x; }                                                                      \
    KASSAY_BOTH T cuCimag##F(C a) { return a.y; }                                                                      \
    KASSAY_BOTH C cuConj##F(C a) { return C{a.x, -a.y}; }                                                              \
    KASSAY_BOTH C cuCadd##F(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                                              \
    KASSAY_BOTH C cuCsub##F(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                                              \
    KASSAY_BOTH C cuCmul##F(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                      \
    KASSAY_BOTH C cuCfma##F(C a, C b, C c) { return cuCadd##F(cuCmul##F(a, b), c); }                                   \
    KASSAY_INNER T cuCabs##F(C a) { return hypot##F(a.x, a.y); }                                                       \
    KASSAY_INNER C cuCdiv##F(C a, C b) {                                                                               \
        T scale = 1 / (fabs##F(b.x) + fabs##F(b.y));                                                                   \
        C p = {a.x * scale, a.y * scale}, q = {b.x * scale, b.y * scale};                                              \
        T norm = 1 / (q.x * q.x + q.y * q.y);                                                                          \
        return C{(p.x * q.x + p.y * q.y) * norm, (p.y * q.x - p.x * q.y) * norm};                                      \
    }
KASSAY_COMPLEX(cuFloatComplex, float, f)
KASSAY_COMPLEX(cuDoubleComplex, double, )
