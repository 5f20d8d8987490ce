// The last atom of each molecule is the first one of the next.
// expect: racy
__global__ void centre(const int *begin, const int *count, const float *charges, float *shifted, float mean) {
    const int first = begin[blockIdx.x], last = first + count[blockIdx.x];
    for (int i = first + threadIdx.x; i <= last; i += blockDim.x)
        shifted[i] = charges[i] - mean;
}
