// monte_carlo_pi.cl in CUDA, each line in its place.






__device__ unsigned next_random(unsigned *state)
{
    unsigned x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x;
}

__global__ void monte_carlo_pi(unsigned seed, unsigned throws, unsigned *per_group, unsigned *total)
{
    __shared__ unsigned inside_group;
    unsigned gid = blockIdx.x * blockDim.x + threadIdx.x;

    if (threadIdx.x == 0)
        inside_group = 0;
    __syncthreads();

    unsigned state = (seed ^ (gid * 2654435769u)) & 0x7fffffffu;
    if (state == 0)
        state = 1;

    unsigned inside = 0;
    unsigned n = 0;
    do {
        unsigned x = next_random(&state) >> 17;
        unsigned y = next_random(&state) >> 17;
        inside += x * x + y * y < (1u << 30) ? 1 : 0;
    } while (++n < throws);

    if (inside)
        atomicAdd(&inside_group, inside);
    __syncthreads();

    if (threadIdx.x == 0) {
        per_group[blockIdx.x] = inside_group;
        atomicAdd(total, inside_group);
    }
}
