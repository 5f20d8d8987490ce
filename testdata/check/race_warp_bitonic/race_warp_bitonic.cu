// A bitonic sort of 128 numbers that waits only where partners are in different warps, as for warps in lockstep.
// expect: racy
// finding A: data-race intra-group local keys
// cause A: assumed-lockstep
__global__ void sort128(int *data)
{
    __shared__ volatile int keys[128];
    const unsigned t = threadIdx.x;
    keys[t] = data[t];
    __syncthreads();
    for (unsigned size = 2; size <= 128; size *= 2) {
        for (unsigned step = size / 2; step > 0; step /= 2) {
            const unsigned partner = t ^ step;
            const bool up = (t & size) == 0;
            if (step >= 32)
                __syncthreads();
            const int own = keys[t], other = keys[partner]; // <- A
            if (step >= 32)
                __syncthreads();
            keys[t] = (own < other) == (up == (t < partner)) ? own : other; // <- A
            if (step >= 32)
                __syncthreads();
        }
    }
    data[t] = keys[t];
}
