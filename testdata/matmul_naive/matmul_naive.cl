// C = alpha * A * B + beta * C for row-major matrices, one element of C a work-item (dimension 0: columns).
//
// Fixture: a two-dimensional launch, a guard with a short-circuit condition, an inner product of variable length, a
// ternary that keeps an uninitialised C from being read.

__kernel void matmul_naive(__global const float *a, __global const float *b, __global float *c, const int rows,
                           const int cols, const int inner, const float alpha, const float beta)
{
    const int col = get_global_id(0);
    const int row = get_global_id(1);

    if (row >= rows || col >= cols)
        return;

    float sum = 0.0f;
    for (int k = 0; k < inner; ++k)
        sum += a[row * inner + k] * b[k * cols + col];

    const int at = row * cols + col;
    c[at] = alpha * sum + (beta != 0.0f ? beta * c[at] : 0.0f);
}
