// Sums, products, quotients and roots that are rounded to zero, up and down, as interval arithmetic needs them.
//
// Fixture: `__fadd_rz` and its kin for floats and doubles, on numbers without a limit and at the limits: overflow, results
// that vanish, denormal ones, sums that cancel, signs of zeros. Results are compared as bits; `make.py` has computed them
// with fractions.

#define DIRECTED(R, X, Y, Z, OUT)                                                                                       \
    OUT(__fadd_##R(X, Y)) OUT(__fsub_##R(X, Y)) OUT(__fmul_##R(X, Y)) OUT(__fdiv_##R(X, Y)) OUT(__frcp_##R(X))          \
    OUT(__fsqrt_##R(X)) OUT(__fmaf_##R(X, Y, Z))

#define DIRECTED_DOUBLE(R, X, Y, Z, OUT)                                                                                \
    OUT(__dadd_##R(X, Y)) OUT(__dsub_##R(X, Y)) OUT(__dmul_##R(X, Y)) OUT(__ddiv_##R(X, Y)) OUT(__drcp_##R(X))          \
    OUT(__dsqrt_##R(X)) OUT(__fma_##R(X, Y, Z))

__global__ void floats(const float *x, const float *y, const float *z, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *to = out + 21 * i;
#define PUT(RESULT) *to++ = __float_as_uint(RESULT);
    DIRECTED(rz, x[i], y[i], z[i], PUT)
    DIRECTED(ru, x[i], y[i], z[i], PUT)
    DIRECTED(rd, x[i], y[i], z[i], PUT)
#undef PUT
}

__global__ void doubles(const double *x, const double *y, const double *z, long long *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long *to = out + 21 * i;
#define PUT(RESULT) *to++ = __double_as_longlong(RESULT);
    DIRECTED_DOUBLE(rz, x[i], y[i], z[i], PUT)
    DIRECTED_DOUBLE(ru, x[i], y[i], z[i], PUT)
    DIRECTED_DOUBLE(rd, x[i], y[i], z[i], PUT)
#undef PUT
}

// Bounds of a dot product: what an interval of it has at least and at most.
__global__ void bounds(const float *a, const float *b, float *low, float *high, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float least = 0.0f, most = 0.0f;
    for (int k = 0; k < n; k++) {
        const float x = a[row * n + k], y = b[k];
        least = __fadd_rd(least, __fmul_rd(x, y));
        most = __fadd_ru(most, __fmul_ru(x, y));
    }
    low[row] = least;
    high[row] = most;
}
