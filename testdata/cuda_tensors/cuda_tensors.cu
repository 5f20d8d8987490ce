// Products of matrices by tensor cores: a tile of the result is a warp's.
//
// Fixture: fragments of `nvcuda::wmma` of halves (both layouts, a scaled accumulator, one of halves) and of bytes; `ldmatrix`,
// with and without `.trans`, and `mma` as inline PTX.

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// C = 2 A B + C, of 16 by 16 tiles; B is given by columns. A warp a block.
__global__ void tiles(const half *a, const half *b, float *c, half *rounded, int inner)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> small;
    wmma::fill_fragment(sum, 0.0f);
    wmma::fill_fragment(small, __float2half(1.0f));
    const int row = 16 * blockIdx.x, width = 16;
    for (int k = 0; k < inner; k += 16) {
        wmma::load_matrix_sync(left, a + row * inner + k, inner);
        wmma::load_matrix_sync(right, b + k, inner);
        wmma::mma_sync(sum, left, right, sum);
        wmma::mma_sync(small, left, right, small);
    }
    wmma::load_matrix_sync(old, c + row * width, width, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = 2.0f * sum.x[i] + old.x[i];
    wmma::store_matrix_sync(c + row * width, sum, width, wmma::mem_row_major);
    wmma::store_matrix_sync(rounded + row * width, small, width, wmma::mem_col_major);
}

// Of bytes, 32 by 16 times 16 by 8; the first block takes the other layouts.
__global__ void bytes(const signed char *a, const signed char *b, int *c)
{
    wmma::fragment<wmma::accumulator, 32, 8, 16, int> sum;
    wmma::fill_fragment(sum, 100);
    if (blockIdx.x == 0) {
        wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::col_major> left;
        wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::row_major> right;
        wmma::load_matrix_sync(left, a, 32);
        wmma::load_matrix_sync(right, b, 8);
        wmma::mma_sync(sum, left, right, sum);
    } else {
        wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::col_major> right;
        wmma::load_matrix_sync(left, a, 16);
        wmma::load_matrix_sync(right, b, 16);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + 256 * blockIdx.x, sum, 8, wmma::mem_row_major);
}

// The same by instructions: A of 16 by 16 and B of 16 by 8, both by rows in shared memory. The first blocks sum halves.
__global__ void instructions(const half *a, const half *b, float *c, int halves)
{
    __shared__ alignas(16) half left[16][16], right[16][8];
    const unsigned lane = threadIdx.x;
    for (unsigned i = lane; i < 256; i += 32)
        left[i / 16][i % 16] = a[256 * blockIdx.x + i];
    for (unsigned i = lane; i < 128; i += 32)
        right[i / 8][i % 8] = b[128 * blockIdx.x + i];
    __syncthreads();
    unsigned x[4], y[2];
    const unsigned rows = (unsigned)__cvta_generic_to_shared(&left[lane % 16][lane / 16 * 8]);
    const unsigned columns = (unsigned)__cvta_generic_to_shared(&right[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(rows));
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(columns));
    float sum[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    if ((int)blockIdx.x < halves) {
        unsigned packed[2] = {0, 0};
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                     : "+r"(packed[0]), "+r"(packed[1])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
        for (int i = 0; i < 4; i++)
            sum[i] = __half2float(__ushort_as_half((unsigned short)(packed[i / 2] >> 16 * (i % 2))));
    } else {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    float *to = c + 128 * blockIdx.x + lane / 4 * 8 + lane % 4 * 2;
    to[0] = sum[0];
    to[1] = sum[1];
    to[64] = sum[2];
    to[65] = sum[3];
}
