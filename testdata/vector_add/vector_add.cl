// Sum of two vectors, one element a work-item.
//
// Fixture: the smallest guarded kernel. One decision, no loop; the launch is usually rounded up beyond `n`.

__kernel void vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
