// fault: output: the product is cut off to a byte.
//
// Squares of the first n numbers.
kernel void square(global float *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = (float)(uchar)(i * i);
}
