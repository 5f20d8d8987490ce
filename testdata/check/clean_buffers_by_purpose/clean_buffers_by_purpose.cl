// Buffers used as the host has made them: one read, one written, and a part of the written one for both.
// expect: clean all-interleavings
kernel void scale(global const float *in, global float *out, global float *last, int n) {
    int i = get_global_id(0);
    if (i < n - 1)
        out[i] = 2 * in[i];
    else
        last[0] = last[0] + in[i];
}
