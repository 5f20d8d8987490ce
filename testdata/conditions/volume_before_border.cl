// However large the volume is, its first value has none before it.
// expect: memory-fault
kernel void relax(global const float *in, global float *out, float rate) {
    const int x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);
    const int from = min(x, width - 3), here = from + y * width;
    out[x + y * width] = in[here] + rate * (in[here + 1] + in[here - 1] - 2 * in[here]);
}
