// fault: out-of-bounds: the guard lets one work-item too many through.
//
// Squares of the first n numbers.
kernel void square(global float *out, int n) {
    int i = (int)get_global_id(0);
    if (i <= n)
        out[i] = (float)(i * i);
}
