// Width, height and pitch are variables of constant memory, which the host sets before the launch.
// expect: clean
__constant__ int width, height, pitch;

__global__ void add(float *out, const float *in) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * pitch + x] += in[y * width + x];
}
