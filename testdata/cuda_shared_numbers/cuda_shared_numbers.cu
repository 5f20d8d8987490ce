// Multiplies a matrix by a vector in tiles that are copied to shared memory by inline assembly.
//
// Fixture: numbers of 32 bits as addresses of shared memory, through functions and references; `cp.async` with its waits;
// a kernel with one array in shared memory, and one with two.

__device__ __forceinline__ unsigned number(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void copy16(unsigned to, const float *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void wait()
{
    asm volatile("cp.async.commit_group;\n" ::: "memory");
    asm volatile("cp.async.wait_group 0;\n" ::: "memory");
}

__device__ __forceinline__ void load4(float4 &to, const unsigned &from)
{
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n" : "=f"(to.x), "=f"(to.y), "=f"(to.z), "=f"(to.w) : "r"(from));
}

// A row of eight numbers for each of four threads.
__global__ void __launch_bounds__(4) rows(const float *matrix, const float *vector, float *out)
{
    __shared__ float4 tile[8];
    const int i = threadIdx.x;
    const unsigned row = number(tile) + i * 32;
    const float *from = matrix + (blockIdx.x * 4 + i) * 8;
    copy16(row, from);
    copy16(row + 16, from + 4);
    wait();
    float sum = 0.0f;
    for (int part = 0; part < 2; part++) {
        float4 four;
        load4(four, row + part * 16);
        sum += four.x * vector[part * 4] + four.y * vector[part * 4 + 1] + four.z * vector[part * 4 + 2] + four.w * vector[part * 4 + 3];
    }
    out[blockIdx.x * 4 + i] = sum;
}

// Turns around what the block has, by two arrays.
__global__ void turned(const int *in, int *out)
{
    __shared__ int first[8], second[8];
    const unsigned i = threadIdx.x;
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(number(first) + 4 * i), "r"(in[i]) : "memory");
    __syncthreads();
    int moved;
    asm volatile("ld.shared.u32 %0, [%1+4];" : "=r"(moved) : "r"(number(&first[6 - i]) - 4) : "memory");
    __syncthreads();
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(number(&second[i])), "r"(moved) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(number(&first[i])), "l"(in + i), "r"(i % 2 * 4) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[i] = second[i];
    out[i + 7] = first[i];
}

// Adds the neighbours that there are: accesses under predicates.
__global__ void neighbours(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = 0;
    int2 right = make_int2(0, 0);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.s32 %0, [%1+-4]; }" : "+r"(left) : "l"(in + i), "r"((int)(i > 0 && i < n)));
    asm volatile("{ .reg .pred p; setp.eq.b32 p, %3, 0; @!p ld.global.v2.s32 {%0, %1}, [%2]; }"
                 : "+r"(right.x), "+r"(right.y)
                 : "l"(in + i + 1), "r"((int)(i % 2 == 1 && i + 2 < n)));
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, %3; @p st.global.s32 [%0], %1; }" ::"l"(out + i), "r"(left + right.x - right.y), "r"(i), "r"(n)
                 : "memory");
}
