// What C++ has no operators for, by instructions of PTX.
//
// Fixture: inline assembly of one instruction and of several, with declared registers, predicates, carries, vectors,
// special registers, accesses to memory, atomics, barriers and shuffles.

__device__ unsigned field(unsigned x, unsigned at, unsigned length)
{
    unsigned y;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(at), "r"(length));
    return y;
}

__device__ int signed_field(int x, unsigned at, unsigned length)
{
    int y;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(at), "r"(length));
    return y;
}

__global__ void bits(const unsigned *a, const unsigned *b, unsigned *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x, y, r;
    // One load for two neighbours.
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(a + 2 * i));
    asm volatile("ld.global.ca.u32 %0, [%1+4];" : "=r"(r) : "l"(b + 2 * i));
    unsigned *to = out + 16 * i;
    to[0] = field(x, y & 63, r & 63);
    to[1] = (unsigned)signed_field((int)x, y & 63, r & 63);
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(to[2]) : "r"(x), "r"(y), "r"(r & 63), "r"(x & 63));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(to[3]) : "r"(x), "r"(y), "r"(r));
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(to[4]) : "r"(x), "r"(y), "r"(r), "n"(0x1b));
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(to[5]) : "r"(x), "r"(y), "r"(r));
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(to[6]) : "r"(x), "r"(y), "r"(r));
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(to[7]) : "r"(x), "r"(y), "r"(r & 63));
    asm("bfind.u32 %0, %1;" : "=r"(to[8]) : "r"(x));
    asm("shl.b32 %0, %1, %2;" : "=r"(to[9]) : "r"(x), "r"(r & 63));
    asm("shr.s32 %0, %1, %2;" : "=r"(to[10]) : "r"(x), "r"(r & 63));
    // The sum of two numbers of 64 bits, by words.
    asm("add.cc.u32 %0, %2, %4;\n\t"
        "addc.u32 %1, %3, %5;" : "=r"(to[11]), "=r"(to[12]) : "r"(x), "r"(y), "r"(r), "r"(x));
    // The larger one, by a predicate; comments are no instructions.
    asm("{\n\t"
        ".reg .pred larger;\n\t"
        "mov.u32 %0, %1; // perhaps\n\t"
        "setp.gt.u32 larger, %2, %1;\n\t"
        "@larger mov.u32 %0, %2;\n\t"
        "}" : "=r"(r) : "r"(x), "r"(y));
    to[13] = r;
    asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(to[14]) : "r"(x), "r"(y), "r"(r));
    asm volatile("st.global.cs.u32 [%0], %1;" :: "l"(to + 15), "r"(x ^ y) : "memory");
}

__global__ void numbers(const float *x, const double *y, float *f, unsigned long long *halves)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x[i]));
    asm("fma.rn.f32 %0, %1, 0f40000000, %2;" : "=f"(f[i]) : "f"(r), "f"(x[i]));
    // A double is taken apart, and put together with its words exchanged.
    asm("{\n\t.reg .b32 low, high;\n\tmov.b64 {low, high}, %1;\n\tmov.b64 %0, {high, low};\n\t}" : "=l"(halves[i]) : "d"(y[i]));
}

__global__ void together(const unsigned *in, unsigned *sums, unsigned *total)
{
    __shared__ unsigned of_warp[2];
    unsigned lane, below, i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    asm("mov.u32 %0, %laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    for (unsigned step = 16; step > 0; step /= 2) {
        unsigned other;
        asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(other) : "r"(v), "r"(step));
        v += other;
    }
    if (lane == 0) {
        of_warp[threadIdx.x / 32] = v;
        asm volatile("red.global.add.u32 [%0], %1;" :: "l"(total), "r"(v) : "memory");
    }
    asm volatile("bar.sync 0;" ::: "memory");
    sums[i] = of_warp[1 - threadIdx.x / 32] + below;
}
