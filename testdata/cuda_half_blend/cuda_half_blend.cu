// Blends two pictures of halves.
//
// Fixture: `half` and `half2`, their arithmetic and conversions.

#include <cuda_fp16.h>

__global__ void blend(const half *a, const half *b, half *out, float weight)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const half w = __float2half(weight);
    const half2 both = __halves2half2(a[i], b[i]);
    const half2 weighted = __hmul2(both, __halves2half2(w, __hsub(__float2half(1.0f), w)));
    out[i] = __low2half(weighted) + __high2half(weighted);
    if (__hgt(out[i], __float2half(100.0f))) {
        out[i] = __float2half(100.0f);
    }
}
