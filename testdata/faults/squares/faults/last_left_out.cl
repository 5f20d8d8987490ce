// fault: output: the last element is left out.
//
// Squares of the first n numbers.
kernel void square(global float *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n - 1)
        out[i] = (float)(i * i);
}
