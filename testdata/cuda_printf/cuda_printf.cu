// Says which values are negative, and replaces them.
//
// Fixture: `printf`, `assert`, conversions with a rounding, integer functions.

#include <cassert>
#include <cstdio>

__global__ void repair(const float *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(n > 0);
    if (in[i] < 0.0f) {
        printf("%d of %d is %f, %s\n", i, n, in[i], "negative");
        out[i] = 0;
        return;
    }
    out[i] = __float2int_rn(in[i]) + __clz(i) + __ffs(n) + __float2int_rz(in[i]) + (int)__brev(1u << 31);
}
