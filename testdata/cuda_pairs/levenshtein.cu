// levenshtein.cl in CUDA, each line in its place.






#define WIDTH 16

__global__ void levenshtein(const char *first, const char *second, const int *lengths,
                          int *distance, int limit)
{
    __shared__ int diagonal[3][WIDTH + 1];
    int pair = blockIdx.x;
    int i = threadIdx.x;
    int rows = lengths[2 * pair];
    int columns = lengths[2 * pair + 1];
    const char *a = first + pair * WIDTH;
    const char *b = second + pair * WIDTH;

    for (int d = 0; d <= rows + columns; d++) {
        int j = d - i;
        if (i <= rows && j >= 0 && j <= columns) {
            int *now = diagonal[d % 3];
            const int *before = diagonal[(d + 2) % 3];
            const int *before_that = diagonal[(d + 1) % 3];
            int cost;
            if (i == 0) {
                cost = j;
            } else if (j == 0) {
                cost = i;
            } else {
                int change = before_that[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
                int remove = before[i - 1] + 1;
                int insert = before[i] + 1;
                cost = change < remove ? (change < insert ? change : insert) : min(remove, insert);
            }
            now[i] = cost;
        }
        __syncthreads();
    }

    if (i == rows) {
        int result = diagonal[(rows + columns) % 3][rows];
        if (limit > 0 && result > limit)
            result = -1;
        distance[pair] = result;
    }
}
