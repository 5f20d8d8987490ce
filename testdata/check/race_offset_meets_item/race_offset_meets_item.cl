// Four work-items write elements of their own, and one the element that a scalar picks: for two of its values that is one of the four.
// expect: racy all-interleavings
// finding A: data-race inter-group global p
kernel void mark(global int *p, const int base) {
    int i = get_global_id(0);
    if (i >= 16 && i < 20)
        p[i] = 1; // <- A
    if (i == 2 && base < 100)
        p[2 * base + 1] = 3; // <- A
}
