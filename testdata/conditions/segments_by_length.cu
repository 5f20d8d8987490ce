// A block for each molecule: its atoms begin where one table says, and another one says how many there are.
// expect: clean
__global__ void centre(const int *begin, const int *count, const float *charges, float *shifted) {
    __shared__ float mean;
    const int first = begin[blockIdx.x], last = first + count[blockIdx.x];
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = first; i < last; i++)
            sum += charges[i];
        mean = sum / max(last - first, 1);
    }
    __syncthreads();
    for (int i = first + threadIdx.x; i < last; i += blockDim.x)
        shifted[i] = charges[i] - mean;
}
