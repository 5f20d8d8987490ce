// Fills a diagonal of a table of local alignments, two pairs of sequences at a time, and notes where scores come from.
//
// Fixture: functions of dynamic programming (`__viaddmax_s16x2_relu`, `__vibmax_s16x2`), `__dp2a_lo`, `__fns`, bytes in
// another order, and copies that are started and waited for.

#include <cuda_pipeline.h>

__global__ void __launch_bounds__(4) diagonal(const unsigned *before, const unsigned *match, const int *weights, unsigned *scores, uchar2 *gaps, int4 *notes)
{
    __shared__ unsigned earlier[4];
    const int i = threadIdx.x, at = blockIdx.x * 4 + i;
    __pipeline_memcpy_async(&earlier[i], &before[at], sizeof(unsigned));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const unsigned left = earlier[(i + 3) % 4];
    // Both halves: the greatest of a match, a gap of cost 2, and nothing.
    const unsigned gap = __vadd2(left, 0xfffefffeu);
    bool high, low;
    const unsigned best = __vibmax_s16x2(gap, __viaddmax_s16x2_relu(earlier[i], match[at], gap), &high, &low);
    scores[at] = best;
    gaps[at] = make_uchar2(high, low);
    notes[at] = make_int4(__dp2a_lo((int)best, weights[at], 100), (int)__fns(best, 1, 2), (int)__nv_bswap32(best),
                         __vimin3_s32((int)best, (int)left, weights[at]));
}
