// Inverts a picture in its place, and writes how bright it has become.
//
// Fixture: surfaces, addressed by bytes: one that is read and written, one that is written only.

__device__ float brightness(uchar4 c)
{
    return (c.x + c.y + c.z) / 3.0f;
}

__global__ void invert(cudaSurfaceObject_t picture, cudaSurfaceObject_t light, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        uchar4 c;
        surf2Dread(&c, picture, x * sizeof(uchar4), y);
        c = make_uchar4(255 - c.x, 255 - c.y, 255 - c.z, c.w);
        surf2Dwrite(c, picture, x * sizeof(uchar4), y);
        surf2Dwrite(brightness(c), light, x * sizeof(float), y, cudaBoundaryModeTrap);
    }
}
