// Shears a picture: the farther down a row lies, the farther to the right it is read.
//
// Fixture: a texture object that is copied and handed on, with each test's own way of sampling it.

__device__ float sample(cudaTextureObject_t picture, float x, float y)
{
    return tex2D<float>(picture, x, y);
}

__global__ void shear(float *out, const cudaTextureObject_t picture, int width, int height, float slope)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    cudaTextureObject_t source = picture;
    if (x >= width || y >= height) {
        return;
    }
    out[y * width + x] = sample(source, x + 0.5f + slope * y, y + 0.5f);
}
