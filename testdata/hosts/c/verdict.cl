kernel void smooth(global const int *in, global int *out, int n, int radius) {
    int i = get_global_id(0);
    if (i >= n) return;
    int sum = 0, count = 0;
    for (int d = -radius; d <= radius; d++) {
        int j = i + d;
        if (j >= 0 && j < n) {
            sum += in[j];
            count++;
        }
    }
    out[i] = sum / count;
}

kernel void mark(global int *out, int n, int limit) {
    int i = get_global_id(0);
    if (i < n) out[i] = out[i] > limit ? 1 : 0;
}
