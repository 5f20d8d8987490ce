// Variables of the program that begin with addresses: rows of a table, a list, the middle of an array.
// expect: clean all-interleavings
struct node {
    int value;
    struct node *next;
};

__device__ float table[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
__device__ float *rows[3] = {table, table + 4, table + 8};
__constant__ float *middle = table + 6;
extern __device__ struct node last;
__device__ struct node first = {10, &last};
__device__ struct node last = {32, &first};

__global__ void gather(float *out)
{
    const int i = threadIdx.x;
    const struct node *at = &first;
    int sum = 0;
    for (int k = 0; k <= i; k++, at = at->next)
        sum += at->value;
    out[i] = rows[i % 3][i / 3] + middle[i % 2 - 1] + sum;
}
