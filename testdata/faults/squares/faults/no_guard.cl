// fault: out-of-bounds: the end of the buffer is not checked.
//
// Squares of the first n numbers.
kernel void square(global float *out, int n) {
    int i = (int)get_global_id(0);
        out[i] = (float)(i * i);
}
