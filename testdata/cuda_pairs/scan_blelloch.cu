// scan_blelloch.cl in CUDA, each line in its place.



extern __shared__ unsigned block[];

__global__ void scan_blelloch(const unsigned *in, unsigned *out, unsigned *totals,
                            const int keep_totals)
{
    const unsigned lid = threadIdx.x;
    const unsigned size = 2 * blockDim.x;
    const unsigned base = blockIdx.x * size;
    unsigned offset = 1;

    block[2 * lid] = in[base + 2 * lid];
    block[2 * lid + 1] = in[base + 2 * lid + 1];

    for (unsigned active = size / 2; active > 0; active /= 2) {
        __syncthreads();
        if (lid < active) {
            const unsigned left = offset * (2 * lid + 1) - 1;
            const unsigned right = offset * (2 * lid + 2) - 1;
            block[right] += block[left];
        }
        offset *= 2;
    }

    if (lid == 0) {
        if (keep_totals) {
            totals[blockIdx.x] = block[size - 1];
        }
        block[size - 1] = 0;
    }

    for (unsigned active = 1; active < size; active *= 2) {
        offset /= 2;
        __syncthreads();
        if (lid < active) {
            const unsigned left = offset * (2 * lid + 1) - 1;
            const unsigned right = offset * (2 * lid + 2) - 1;
            const unsigned held = block[left];
            block[left] = block[right];
            block[right] += held;
        }
    }
    __syncthreads();

    out[base + 2 * lid] = block[2 * lid];
    out[base + 2 * lid + 1] = block[2 * lid + 1];
}
