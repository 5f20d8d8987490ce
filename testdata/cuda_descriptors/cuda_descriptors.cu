// Row sums of several matrices of different sizes, which are described by structs in a buffer: each says where its
// matrix and its sums are. One is read member by member, the other as a copy.
struct Matrix {
    int rows;
    int columns;
    const double *values;
    double *sums;
};

__device__ double sum_of_row(Matrix matrix, int row)
{
    double sum = 0;
    for (int column = 0; column < matrix.columns; ++column) {
        sum += matrix.values[row * matrix.columns + column];
    }
    return sum;
}

__global__ void row_sums(const Matrix *matrices)
{
    const Matrix *matrix = &matrices[blockIdx.x];
    for (int row = threadIdx.x; row < matrix->rows; row += blockDim.x) {
        matrix->sums[row] = sum_of_row(*matrix, row);
    }
}
