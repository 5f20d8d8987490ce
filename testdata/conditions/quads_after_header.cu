// However long rows are, one element lies in front of them.
// expect: memory-fault
__global__ void sums_of_rows(const float *matrix, float *sums, int rows, int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float4 *line = reinterpret_cast<const float4 *>(matrix + 1 + row * columns);
    float sum = matrix[0];
    for (int i = 0; i < columns / 4; i++)
        sum += line[i].x * line[i].y + line[i].z * line[i].w;
    sums[row] = sum;
}
