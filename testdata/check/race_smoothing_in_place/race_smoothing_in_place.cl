// Smoothing without a second buffer: neighbours read what others write, within groups and across their border.
// expect: racy
// finding A: data-race intra-group global a
// finding B: data-race inter-group global a
kernel void smooth(global float *a, int n) {
    int i = (int)get_global_id(0);
    if (i > 0 && i < n - 1)
        a[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1]; // <- A B
}
