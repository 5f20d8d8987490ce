// fault: out-of-bounds: there are nine bins.
//
// Counts values in eight bins.
kernel void histogram(global const uchar *in, global int *bins, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        atomic_inc(&bins[in[i] % 9]);
}
