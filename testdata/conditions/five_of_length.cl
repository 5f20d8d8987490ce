// Four elements for each work-item, but the one behind them is read, too: no length is a multiple of that.
// expect: memory-fault
kernel void slopes(global const float *in, global float *out, int n) {
    const int i = 4 * get_global_id(0);
    if (i >= n)
        return;
    for (int k = 0; k < 4; k++)
        out[i + k] = in[i + k];
    out[i] += in[i + 4] - in[i];
}
