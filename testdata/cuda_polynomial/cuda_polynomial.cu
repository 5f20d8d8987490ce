// Evaluates a polynomial whose coefficients the host sets.
//
// Fixture: a `__constant__` array, which tests set and kernels only read; a table that the source sets; a namespace.

namespace poly {

constexpr int degree = 3;
__constant__ float coefficients[degree + 1];
__device__ const float scale[2] = {1.0f, 0.5f};

__device__ float horner(float x)
{
    float y = 0.0f;
    for (int k = degree; k >= 0; k--) {
        y = y * x + coefficients[k];
    }
    return y;
}

__global__ void evaluate(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = scale[i % 2] * horner(in[i]);
}

} // namespace poly
