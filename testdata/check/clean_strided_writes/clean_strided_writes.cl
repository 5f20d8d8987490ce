// Grid-stride loops: elements of a work-item lie a whole launch apart, those of neighbours side by side.
// expect: clean all-interleavings
kernel void scale(global float *x, float by, int n) {
    int step = (int)get_global_size(0);
    for (int i = (int)get_global_id(0); i < n; i += step)
        x[i] *= by;
}
