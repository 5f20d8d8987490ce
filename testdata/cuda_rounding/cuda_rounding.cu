// Rounds numbers to 16 bits in all directions, and goes back.
//
// Fixture: conversions of `half` and `__nv_bfloat16` with a rounding, their saturating and unordered functions, and atomic
// sums of pairs of both. Written values are bits.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void from_floats(const float *x, ushort4 *halves, ushort4 *bfloats, int4 *back, short2 *narrow)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    halves[i] = make_ushort4(__half_as_ushort(__float2half_rn(x[i])), __half_as_ushort(__float2half_rz(x[i])),
                             __half_as_ushort(__float2half_rd(x[i])), __half_as_ushort(__float2half_ru(x[i])));
    bfloats[i] = make_ushort4(
        __bfloat16_as_ushort(__float2bfloat16_rn(x[i])), __bfloat16_as_ushort(__float2bfloat16_rz(x[i])),
        __bfloat16_as_ushort(__float2bfloat16_rd(x[i])), __bfloat16_as_ushort(__float2bfloat16_ru(x[i])));
    const __nv_bfloat16 b = __float2bfloat16(x[i]);
    back[i] = make_int4(__bfloat162int_rn(b), __bfloat162int_rz(b), __bfloat162int_rd(b), __bfloat162int_ru(b));
    narrow[i] = make_short2(__half2short_rn(__float2half(x[i])), (short)__half2ushort_rz(__float2half(x[i])));
}

__global__ void from_integers(const long long *x, ushort4 *halves, ushort4 *bfloats)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    halves[i] = make_ushort4(__half_as_ushort(__ll2half_rn(x[i])), __half_as_ushort(__ll2half_rz(x[i])),
                             __half_as_ushort(__ll2half_rd(x[i])), __half_as_ushort(__ll2half_ru(x[i])));
    bfloats[i] = make_ushort4(
        __bfloat16_as_ushort(__ll2bfloat16_rn(x[i])), __bfloat16_as_ushort(__ll2bfloat16_rz(x[i])),
        __bfloat16_as_ushort(__ll2bfloat16_rd(x[i])), __bfloat16_as_ushort(__ll2bfloat16_ru(x[i])));
}

template <typename T> __device__ unsigned relations(T a, T b)
{
    return __heq(a, b) | __hne(a, b) << 1 | __hlt(a, b) << 2 | __hge(a, b) << 3 | __hequ(a, b) << 4 | __hneu(a, b) << 5
           | __hltu(a, b) << 6 | __hgeu(a, b) << 7;
}

__global__ void compare(const float *x, const float *y, uint2 *same, float4 *limited)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const half a = x[i], b = y[i];
    same[i] = make_uint2(relations(a, b), relations(__nv_bfloat16(x[i]), __nv_bfloat16(y[i])));
    const half2 both = __hadd2_sat(half2(a, b), half2(b, a));
    limited[i] = make_float4(__low2float(both), __hfma_relu(a, b, a), __hmax(a, b), __hmin_nan(a, b));
}

__global__ void sum(const float *x, half2 *pairs, __nv_bfloat162 *others)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(pairs, __floats2half2_rn(x[i], -x[i]));
    atomicAdd(others, __floats2bfloat162_rn(x[i], 2.0f * x[i]));
}
