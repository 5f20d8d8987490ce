// A struct with padding goes through shared memory: nothing has written the padding, and nothing reads it.
// expect: clean all-interleavings
struct Task {
    char kind;
    int length;
    short depth;
};

__global__ void pass_on(const int *lengths, int *out)
{
    __shared__ Task tasks[8];
    const int i = threadIdx.x;
    tasks[i].kind = static_cast<char>(i);
    tasks[i].length = lengths[i];
    tasks[i].depth = 1;
    __syncthreads();
    const Task next = tasks[(i + 1) % blockDim.x];
    out[i] = next.length + next.kind + next.depth;
}
