/* Solves L x = b for many right-hand sides by forward substitution, L lower triangular, packed row by row.
 *
 * One work-item a right-hand side. Row r of L starts at r (r + 1) / 2. Fixture for: a triangular inner loop (zero, one and
 * more iterations in one launch), division, a break on a zero pivot, an error code through a global.
 */

int row_start(int row)
{
    return row * (row + 1) / 2;
}

__kernel void triangular_solve(__global const float *lower, int n, int unit_diagonal, __global const float *b, int sides,
                               __global float *x, __global int *failed_row)
{
    int side = get_global_id(0);
    if (side >= sides)
        return;

    int failed = -1;
    for (int row = 0; row < n; row++) {
        float sum = b[row * sides + side];
        for (int col = 0; col < row; col++)
            sum -= lower[row_start(row) + col] * x[col * sides + side];
        if (!unit_diagonal) {
            float pivot = lower[row_start(row) + row];
            if (pivot == 0.0f) {
                failed = row;
                break;
            }
            sum /= pivot;
        }
        x[row * sides + side] = sum;
    }
    failed_row[side] = failed;
}
