// rng_lcg_long.cl in CUDA, each line in its place.




typedef unsigned long long u64;

__device__ u64 jump(u64 state, u64 factor, u64 increment, u64 steps)
{
    u64 total_factor = 1;
    u64 total_increment = 0;
    while (steps > 0) {
        if (steps & 1) {
            total_factor *= factor;
            total_increment = total_increment * factor + increment;
        }
        increment *= factor + 1;
        factor *= factor;
        steps >>= 1;
    }
    return total_factor * state + total_increment;
}

__global__ void rng_lcg_long(u64 seed, long increment, unsigned factor32, int shift, unsigned short stride,
                             short floor_value, unsigned char method, char bias, u64 *states, int *numbers)
{
    size_t gid = blockIdx.x * blockDim.x + threadIdx.x;
    u64 factor = ((u64)factor32 << 32) | 0x4c957f2du;
    u64 state = jump(seed, factor, (u64)increment, (u64)stride * gid);
    states[gid] = state;

    unsigned high = (unsigned)(state >> shift);
    int number;
    if (method == 0) {
        number = (int)(high % 1000u);
    } else if (method == 1) {
        number = (int)__umulhi(high, 1000u);
    } else {
        short narrow = (short)high;
        number = narrow >> 4;
    }

    number += bias;
    if (number < floor_value)
        number = floor_value;
    numbers[gid] = number;
}
