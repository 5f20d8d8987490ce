// Converts numbers of one type to another, scaled.
//
// Fixture: a kernel whose name has several arguments of a template, which devices do not take as it is.

template <typename From, typename To, int Scale>
__global__ void convert(const From *in, To *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = static_cast<To>(in[i] * Scale);
    }
}

template __global__ void convert<float, int, 2>(const float *, int *, int);
