// Each thread has four elements, and checks where they begin: the length has to be a multiple of four.
// expect: conditional `n % 4 == 0`
#define QUAD(value) (*reinterpret_cast<float4 *>(&(value)))

__global__ void add_quads(float *a, float *b, float *sum, int n) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float4 x = QUAD(a[i]), y = QUAD(b[i]);
        x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
        QUAD(sum[i]) = x;
    }
}
