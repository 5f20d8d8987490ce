// program_variables.cl in CUDA, each line in its place.





__device__ int factors[5] = {1, 10, 100};
__device__ int taken;
__device__ uint2 ends = {7, 0x80000000u};

__device__ int next(int by)
{
    static __device__ int calls = 5;
    atomicAdd(&calls, by);
    return atomicAdd(&taken, 1);
}

__global__ void program_variables(int *out, int *tickets, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int ticket = next(2);
    tickets[ticket] += 1;
    int *row = &factors[1];
    out[i] = i == 0 ? (int)ends.x : row[(i & 3) - 1] * i;
    if (i == n - 1)
        factors[4] = n;
}
