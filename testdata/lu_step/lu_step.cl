/* One step of an LU factorisation in place, without pivoting.
 *
 * Work-item r eliminates column k from row r: the factor takes the place of the eliminated element, so after steps
 * 0 .. n-2 the matrix holds L (unit diagonal, not stored) below and U on and above its diagonal. Rows of zeros in
 * column k are left alone. Fixture for: guards with early return, an error code, a loop whose trip count depends on k.
 */

int usable(float pivot)
{
    return fabs(pivot) > 0.0f && isfinite(pivot);
}

__kernel void lu_step(__global float *a, int n, int k, __global int *status)
{
    int row = get_global_id(0);
    if (row <= k || row >= n)
        return;

    float pivot = a[k * n + k];
    int ok = usable(pivot);
    if (row == k + 1)
        *status = ok ? 0 : k + 1;
    if (!ok)
        return;

    float factor = a[row * n + k];
    if (factor != 0.0f) {
        factor /= pivot;
        a[row * n + k] = factor;
        for (int col = k + 1; col < n; col++)
            a[row * n + col] -= factor * a[k * n + col];
    }
}
