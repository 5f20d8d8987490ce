// Counts, the largest number, and steps of a Julia set, with the objects of libcu++ and Thrust.
//
// Fixture: `cuda::atomic_ref` of two scopes with several orders, a `cuda::atomic` in shared memory, an exchange in a loop,
// `cuda::std::complex`, `array` and `tuple`; functors, complex numbers and a generator of Thrust.

#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <thrust/complex.h>
#include <thrust/functional.h>
#include <thrust/random.h>

__device__ void raise(unsigned *largest, unsigned value)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> place(*largest);
    unsigned seen = place.load(cuda::memory_order_relaxed);
    while (seen < value && !place.compare_exchange_weak(seen, value, cuda::memory_order_relaxed)) {
    }
}

__global__ void count(const unsigned *in, unsigned *bins, unsigned *largest, int n)
{
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> own[4];
    if (threadIdx.x < 4)
        own[threadIdx.x].store(0, cuda::memory_order_relaxed);
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        own[in[i] % 4].fetch_add(1, cuda::memory_order_relaxed);
        raise(largest, in[i]);
    }
    __syncthreads();
    if (threadIdx.x < 4) {
        const unsigned sum = own[threadIdx.x];
        cuda::atomic_ref<unsigned, cuda::thread_scope_device>(bins[threadIdx.x]) += sum;
    }
}

// Steps until z * z + c leaves the circle, and where it is then.
__device__ cuda::std::tuple<int, float> steps(cuda::std::complex<float> z, cuda::std::complex<float> c)
{
    int n = 0;
    while (n < 20 && norm(z) <= 4.0f) {
        z = z * z + c;
        n++;
    }
    return cuda::std::make_tuple(n, z.real());
}

__global__ void julia(const float *x, int *n, float *at, float *drawn)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda::std::array<float, 2> c = {-0.75f, 0.125f};
    const auto found = steps(cuda::std::complex<float>(x[i], 0.5f), cuda::std::complex<float>(c[0], c[1]));
    n[i] = cuda::std::get<0>(found);
    at[i] = thrust::minimum<float>()(cuda::std::get<1>(found), 2.0f);
    const thrust::complex<float> quotient = thrust::complex<float>(x[i], 1.0f) / thrust::complex<float>(0.5f, 0.5f);
    thrust::default_random_engine engine(i + 1);
    engine.discard(1);
    drawn[i] = quotient.imag() + (float)(engine() % 16);
}
