/* Kernels of matmul: the product of n by n matrices, by tiles in local memory, and as it is written. */

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void tiled(global const float *a, global const float *b, global float *c, uint n)
{
    local float part_a[TILE][TILE], part_b[TILE][TILE];
    uint x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0;
    for (uint first = 0; first < n; first += TILE) {
        part_a[ly][lx] = y < n && first + lx < n ? a[y * n + first + lx] : 0;
        part_b[ly][lx] = x < n && first + ly < n ? b[(first + ly) * n + x] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum += part_a[ly][k] * part_b[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < n && y < n)
        c[y * n + x] = sum;
}

kernel void plain(global const float *a, global const float *b, global float *c, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
