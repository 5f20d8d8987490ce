// Tiles of both factors; barriers before and after their use.
// expect: clean all-interleavings
#define T 4
kernel void product(global const float *a, global const float *b, global float *c, int n) {
    local float ta[T][T], tb[T][T];
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += T) {
        ta[ly][lx] = a[y * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++)
            sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}
