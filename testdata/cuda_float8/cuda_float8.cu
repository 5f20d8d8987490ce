// Rounds numbers to the two formats of eight bits and back, and tells how far off the nearer one is.
//
// Fixture: conversions of `cuda_fp8.h`, whose ties, subnormal numbers and overflow to the greatest number are what the
// formats' specification says.

#include <cuda_fp8.h>

__global__ void round8(const float *in, unsigned char *codes, float *error, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const __nv_fp8_e4m3 precise(in[i]);
        const __nv_fp8_e5m2 wide(in[i]);
        codes[2 * i] = precise.__x;
        codes[2 * i + 1] = wide.__x;
        error[i] = fminf(fabsf((float)precise - in[i]), fabsf((float)wide - in[i]));
    }
}
