// The pitch is a variable of constant memory, but the sums of rows are kept apart by nothing.
// expect: racy
__constant__ int width, height, pitch;

__global__ void sum(float *out, const float *in) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y] += in[y * pitch + x];
}
