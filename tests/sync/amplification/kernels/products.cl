// Linear algebra: "vectorAdd", "scalarProd", "matrixMul".

#define PARTS 64
#define TILE 8

kernel void vector_add(global const float *a, global const float *b, global float *c, int n)
{
    int i = get_global_id(0);

    if (i < n)
        c[i] = a[i] + b[i];
}

kernel void scalar_product(global float *out, global const float *a, global const float *b, int n)
{
    local float parts[PARTS];

    for (int i = get_local_id(0); i < PARTS; i += get_local_size(0)) {
        float sum = 0.0f;
        for (int j = i; j < n; j += PARTS)
            sum += a[j] * b[j];
        parts[i] = sum;
    }
    for (int stride = PARTS / 2; stride > 0; stride >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = get_local_id(0); i < stride; i += get_local_size(0))
            parts[i] += parts[stride + i];
    }
    if (get_local_id(0) == 0)
        *out = parts[0];
}

kernel void matrix_product(global const float *a, global const float *b, global float *c, int inner, int columns)
{
    local float of_a[TILE][TILE];
    local float of_b[TILE][TILE];
    int x = get_local_id(0);
    int y = get_local_id(1);
    int row = get_global_id(1);
    int column = get_global_id(0);
    float sum = 0.0f;

    for (int t = 0; t < inner; t += TILE) {
        of_a[y][x] = a[row * inner + t + x];
        of_b[y][x] = b[(t + y) * columns + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += of_a[y][k] * of_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * columns + column] = sum;
}
