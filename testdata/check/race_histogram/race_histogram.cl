// Bins counted without atomics: in a group and between groups.
// expect: racy all-interleavings
// finding A: data-race intra-group global bins
// finding B: data-race inter-group global bins
// cause A: unprotected-update
// cause B: unprotected-update
kernel void histogram(global const uchar *in, global int *bins) {
    bins[in[get_global_id(0)] % 8]++; // <- A B
}
