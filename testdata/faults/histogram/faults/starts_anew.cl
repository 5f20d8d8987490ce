// fault: data-race: the first work-item clears the bin that it raises.
//
// Counts values in eight bins.
kernel void histogram(global const uchar *in, global int *bins, int n) {
    int i = (int)get_global_id(0);
    if (i == 0)
        bins[in[i] % 8] = 0;
    if (i < n)
        atomic_inc(&bins[in[i] % 8]);
}
