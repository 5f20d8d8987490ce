// fault: data-race: bins are raised without atomics.
//
// Counts values in eight bins.
kernel void histogram(global const uchar *in, global int *bins, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        bins[in[i] % 8]++;
}
