// A product of halves, and one that overflows.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void half_product(global const half *a, global const half *b, global int *out) {
    int i = get_global_id(0);
    half p = a[i] * b[i];
    int r = 0;
    if (p == (half)21.0f && a[i] > b[i]) // -> true covered
        r = 1;
    if (isinf(p) && !isinf(a[i]) && !isinf(b[i])) // -> true covered
        r += 2;
    out[i] = r;
}
