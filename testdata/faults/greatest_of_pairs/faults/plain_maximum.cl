// fault: data-race: the maximum is taken without an atomic.
//
// The greater value of each pair of neighbours.
kernel void halves(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        out[i / 2] = max(out[i / 2], in[i]);
}
