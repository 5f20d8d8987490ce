// Rows are read by four elements: they begin where four elements may.
// expect: clean
__global__ void sums_of_rows(const float *matrix, float *sums, int rows, int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float4 *line = reinterpret_cast<const float4 *>(matrix + row * columns);
    float sum = 0;
    for (int i = 0; i < columns / 4; i++) {
        const float4 v = line[i];
        sum += v.x + v.y + v.z + v.w;
    }
    sums[row] = sum;
}
