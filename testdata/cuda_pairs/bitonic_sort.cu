// bitonic_sort.cl in CUDA, each line in its place.


extern __shared__ unsigned block[];

static __device__ void exchange(unsigned *low, unsigned *high, const bool up)
{
    const unsigned a = *low;
    const unsigned b = *high;

    if ((a > b) == up) {
        *low = b;
        *high = a;
    }
}

__global__ void bitonic_sort(unsigned *keys, const int ascending)
{
    const unsigned lid = threadIdx.x;
    const unsigned half_size = blockDim.x;
    const unsigned size = 2 * half_size;
    const unsigned base = blockIdx.x * size;

    block[lid] = keys[base + lid];
    block[lid + half_size] = keys[base + lid + half_size];

    for (unsigned run = 2; run <= size; run <<= 1) {
        const bool up = ((lid & (run / 2)) == 0) == (ascending != 0);

        for (unsigned gap = run / 2; gap > 0; gap >>= 1) {
            const unsigned low = 2 * lid - (lid & (gap - 1));
            __syncthreads();
            exchange(block + low, block + low + gap, up);
        }
    }
    __syncthreads();

    keys[base + lid] = block[lid];
    keys[base + lid + half_size] = block[lid + half_size];
}
