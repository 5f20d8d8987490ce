// Blends two images of packed bytes: rounded average, clamped sums, greatest bytes, a mask, and how far they differ.
//
// Fixture: CUDA's functions on the bytes and halves of a word.

__global__ void blend(const unsigned *a, const unsigned *b, unsigned *out, unsigned *distance, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        out[4 * i] = __vavgu4(a[i], b[i]);
        out[4 * i + 1] = __vaddus2(a[i], b[i]);
        out[4 * i + 2] = __vmaxs4(a[i], __vabsss4(b[i]));
        out[4 * i + 3] = __vcmpgtu4(a[i], b[i]);
        distance[i] = __vsadu4(a[i], b[i]) + __vsads2(a[i], b[i]);
    }
}
