// One step of a smoothing with a halo in shared memory.
//
// Fixture: a template over a functor, a lambda in a device function, `__restrict__`, `__launch_bounds__`.

#define RADIUS 1
#define BLOCK 4

struct Mean {
    __device__ float operator()(float a, float b, float c) const { return (a + b + c) / 3.0f; }
};

struct Largest {
    __device__ float operator()(float a, float b, float c) const { return fmaxf(a, fmaxf(b, c)); }
};

template <typename Operation>
__device__ void smooth(const float *__restrict__ in, float *__restrict__ out, int n, Operation operation)
{
    __shared__ float tile[BLOCK + 2 * RADIUS];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    auto at = [=](int j) { return j < 0 ? in[0] : j >= n ? in[n - 1] : in[j]; };
    tile[threadIdx.x + RADIUS] = at(i);
    if (threadIdx.x < RADIUS) {
        tile[threadIdx.x] = at(i - RADIUS);
        tile[threadIdx.x + BLOCK + RADIUS] = at(i + BLOCK);
    }
    __syncthreads();
    if (i < n) {
        out[i] = operation(tile[threadIdx.x], tile[threadIdx.x + 1], tile[threadIdx.x + 2]);
    }
}

__global__ void __launch_bounds__(BLOCK) stencil(const float *in, float *out, int n, bool largest)
{
    if (largest) {
        smooth(in, out, n, Largest());
    } else {
        smooth(in, out, n, Mean());
    }
}
