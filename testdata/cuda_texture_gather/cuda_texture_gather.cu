// Gathers from textures of every shape.
//
// Fixture: references to textures, one of them in a helper and one with normalised numbers; texels of one, two and four
// numbers; fetches before the first element and behind the last.

texture<float, cudaTextureType1D, cudaReadModeElementType> weights;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> colours;

__device__ float weight(int i)
{
    return tex1Dfetch(weights, i);
}

__global__ void gather(float4 *out, short2 *moved, cudaTextureObject_t moves, cudaTextureObject_t volume,
                       cudaTextureObject_t pages, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 c = tex2D(colours, i, 1);
        c.x *= weight(i - 1);
        c.y += tex3D<float>(volume, i & 1, 1, 0);
        c.z += tex2DLayered<unsigned char>(pages, 0, i, 1);
        out[i] = c;
        tex1Dfetch(&moved[i], moves, i);
    }
}
