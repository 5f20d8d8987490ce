// A thread reads an element of the row that others overwrite; that rows of different blocks do not overlap is another
// question, and no condition on them mends it.
// expect: racy
__global__ void gradients(float *logits, float *losses, const int *targets, int batch, int times, int classes, int pitch) {
    const int row = blockIdx.x, target = targets[row];
    if (threadIdx.x == 0)
        losses[row] = -logf(logits[row * pitch + target]);
    for (int i = threadIdx.x; i < classes; i += blockDim.x)
        logits[row * pitch + i] = (logits[row * pitch + i] - (i == target)) / (batch * times);
}
