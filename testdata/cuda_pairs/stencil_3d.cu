// stencil_3d.cl in CUDA, each line in its place.




static __device__ int cell(const int x, const int y, const int z, const int4 size)
{
    return (z * size.y + y) * size.x + x;
}

__global__ void stencil_3d(const int *in, int *out, const int4 size)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= size.x || y >= size.y)
        return;

    const bool edge = x == 0 || y == 0 || x == size.x - 1 || y == size.y - 1;
    int below = 0;
    int here = in[cell(x, y, 0, size)];

    for (int z = 0; z < size.z; ++z) {
        const int above = z + 1 < size.z ? in[cell(x, y, z + 1, size)] : 0;
        const int at = cell(x, y, z, size);

        if (edge || z == 0 || z == size.z - 1) {
            out[at] = here;
            below = here;
            here = above;
            continue;
        }
        out[at] = below + above + in[at - 1] + in[at + 1] + in[cell(x, y - 1, z, size)] + in[cell(x, y + 1, z, size)]
                  - 6 * here;
        below = here;
        here = above;
    }
}
