// loop_shapes.cl in CUDA, each line in its place.




// Digits of a number: do-while.
static __device__ int digits(unsigned value)
{
    int count = 0;

    do {
        value /= 10;
        ++count;
    } while (value != 0);
    return count;
}

// Smallest divisor above 1: while (1), left by return.
static __device__ unsigned divisor(const unsigned value)
{
    unsigned d = 2;

    while (1) {
        if (d * d > value)
            return value;
        if (value % d == 0)
            return d;
        ++d;
    }
}

// Smallest power of two that is not below the value: for (;;), left by break.
static __device__ unsigned power(const unsigned value)
{
    unsigned p = 1;

    for (;;) {
        if (p >= value)
            break;
        p *= 2;
    }
    return p;
}

// First element that is not negative: the body leaves in its first turn or goes on by continue.
static __device__ int first_known(const int *list, const int length)
{
    for (int i = 0; i < length; ++i) {
        if (list[i] < 0)
            continue;
        return list[i];
    }
    return -1;
}

// Pairs (i, j) with i * j <= value, i up to `rows`; the inner loop is left by break.
static __device__ int pairs(const unsigned value, const unsigned rows)
{
    int count = 0;

    for (unsigned i = 1; i <= rows; ++i) {
        for (unsigned j = 1; j <= 10; ++j) {
            if (i * j > value)
                break;
            ++count;
        }
    }
    return count;
}

__global__ void loop_shapes(const unsigned *values, const int *list, const int length, const unsigned rows,
                          int *out)
{
    const int gid = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = values[gid];
    int bits = 0;

    out[gid] = digits(value) * 1000000 + (int)divisor(value) * 10000 + (int)power(value) * 100;
    out[gid] += pairs(value, rows) + first_known(list, length);
    while (value) {
        bits += value & 1;
        value >>= 1;
    }
    out[gid] -= bits;
}
