// y = a * x + y, four elements a work-item; what does not fill a vector of four is done one by one.
//
// Fixture: saxpy_tail with a fault: the tail leaves out its last element.

#define WIDTH 4

__kernel void saxpy_tail(const int n, const float a, __global const float *restrict x, __global float *restrict y)
{
    const int first = (int)get_global_id(0) * WIDTH;

    if (first + WIDTH <= n) {
        const float4 xs = vload4(0, x + first);
        const float4 ys = vload4(0, y + first);
        vstore4(a * xs + ys, 0, y + first);
    } else {
        for (int i = first; i < n - 1; ++i) {
            y[i] = a * x[i] + y[i];
        }
    }
}
