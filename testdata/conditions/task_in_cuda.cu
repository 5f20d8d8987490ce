// A kernel that one thread runs.
// expect: conditional a single thread runs it
__global__ void count_down(int *left, int *done)
{
    if (*left > 0) {
        *left -= 1;
        *done += 1;
    }
}
