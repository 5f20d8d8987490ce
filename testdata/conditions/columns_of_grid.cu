// The rows of the grid have a length that is a literal; it says nothing of how large blocks are.
// expect: clean
#define SIDE 514
#define AT(field, column, row) field[(column) * SIDE + (row)]

__global__ void step(const float *before, float *after, float rate) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const float here = AT(before, column, row);
    AT(after, column, row) = here + rate * (AT(before, column - 1, row) + AT(before, column + 1, row) - 2 * here);
}
