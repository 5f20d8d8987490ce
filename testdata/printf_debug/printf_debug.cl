/* Running mean and variance of rows (Welford), with messages for debugging.
 *
 * When `verbose` is set, negative numbers and results are reported by printf. Fixture for: printf in a kernel (the output must reach neither
 * the tool's stdout nor its protocol), string literals, a variadic call that is a statement.
 */

__kernel void printf_debug(__global const float *rows, int width, int count, int verbose, __global float2 *statistics)
{
    int row = get_global_id(0);
    if (row >= count) {
        if (verbose > 1)
            printf("work-item %d: no row\n", row);
        return;
    }

    float mean = 0.0f;
    float squares = 0.0f;
    for (int i = 0; i < width; i++) {
        float x = rows[row * width + i];
        float delta = x - mean;
        mean += delta / (i + 1);
        squares += delta * (x - mean);
        if (verbose && x < 0.0f)
            printf("row %d, column %d: %f is negative\n", row, i, x);
    }

    float variance = width > 0 ? squares / width : 0.0f;
    if (verbose)
        printf("row %d: mean %.3f, variance %.3f\n", row, mean, variance);
    statistics[row] = (float2)(mean, variance);
}
