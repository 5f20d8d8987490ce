// helper_thrice.cl in CUDA, each line in its place.




static __device__ unsigned collatz(unsigned value, const unsigned limit)
{
    unsigned steps = 0;

    while (value > 1 && steps < limit) {
        if (value & 1) {
            value = 3 * value + 1;
        } else {
            value /= 2;
        }
        ++steps;
    }
    return steps;
}

static __device__ unsigned longer(const unsigned known, const unsigned value, const unsigned limit)
{
    const unsigned steps = collatz(value, limit);
    return steps > known ? steps : known;
}

__global__ void helper_thrice(const unsigned *values, unsigned *longest, unsigned *sum, const unsigned limit)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned best = collatz(values[i], limit);
    unsigned total = best;

    best = longer(best, values[i] + 1, limit);
    if (best == limit) {
        total += collatz(values[i] / 4, limit);
    }
    longest[i] = best;
    sum[i] = total;
}
