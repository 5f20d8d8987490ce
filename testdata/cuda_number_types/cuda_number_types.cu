// Moves each value half of its way towards a target, at most by 4, and lets an energy grow up to a limit.
//
// Fixture: operators of `half`, `half2` and `__nv_bfloat16`: they are operators of this file, with the mutants of those
// on floats.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void relax(const half *in, const half *target, half *out, float *energy, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    half step = (target[i] - in[i]) / half(2.0f);
    if (step > half(4.0f))
        step = half(4.0f);
    half moved = in[i] + step;
    moved *= half(3.0f);
    const half2 both = half2(moved, -moved) * half2(step, step);
    out[i] = both.x + both.y == half(0.0f) ? moved : both.x;

    __nv_bfloat16 e = __float2bfloat16(energy[i]);
    e += __nv_bfloat16(1.5f) * e;
    energy[i] = e < __nv_bfloat16(100.0f) ? float(e) : 100.0f;
}
