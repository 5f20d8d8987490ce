// fault: out-of-bounds: the end of the input is not checked.
//
// Counts values in eight bins.
kernel void histogram(global const uchar *in, global int *bins, int n) {
    int i = (int)get_global_id(0);
        atomic_inc(&bins[in[i] % 8]);
}
