// Two work-items write elements of their own, unless the caller gives the second the number of the first one's.
// expect: racy all-interleavings
// finding A: data-race intra-group global p
kernel void two(global int *p, const int x) {
    int i = get_global_id(0);
    if (i == 0) p[0] = 1; // <- A
    if (i == 7) p[x] = 2; // <- A
}
