// Rotates points and takes their lengths.
//
// Fixture: vector types in buffers and by value, `make_float2`, mathematics of float and double.

__global__ void rotate(const float2 *in, float2 *out, float4 turn, double *lengths, uchar4 *bytes)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 p = in[i];
    out[i] = make_float2(turn.x * p.x + turn.y * p.y, turn.z * p.x + turn.w * p.y);
    lengths[i] = sqrt((double)p.x * p.x + (double)p.y * p.y);
    bytes[i].x += (unsigned char)fmaxf(p.x, 0.0f);
    bytes[i].w = max(bytes[i].w, bytes[i].x);
}
