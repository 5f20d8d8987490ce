// y = A * x for a sparse matrix in compressed rows, one row a work-item.
//
// Fixture: loop bounds and addresses read from memory; several input buffers whose contents depend on one another;
// a kernel whose coverage depends on data alone.

__kernel void spmv_csr(const uint rows, __global const uint *row_start, __global const uint *column,
                       __global const float *value, __global const float *x, __global float *y)
{
    const uint row = get_global_id(0);

    if (row < rows) {
        const uint begin = row_start[row];
        const uint end = row_start[row + 1];
        float sum = 0.0f;

        for (uint k = begin; k < end; ++k) {
            sum = mad(value[k], x[column[k]], sum);
        }
        y[row] = sum;
    }
}
