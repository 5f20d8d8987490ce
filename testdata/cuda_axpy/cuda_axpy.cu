// y = a x + y, with the host program beside the kernel, as CUDA files have it.
//
// Fixture: host code in the same file, `threadIdx` and its kin, a guarded access, a loop over the grid.

#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void axpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = a * x[i] + y[i];
    }
}

int main()
{
    const int n = 1000;
    std::vector<float> x(n, 1.0f), y(n, 2.0f);
    float *dx, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    axpy<<<4, 128>>>(n, 3.0f, dx, dy);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorString(error));
    }
    cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", y[0]);
    cudaFree(dx);
    cudaFree(dy);
}
