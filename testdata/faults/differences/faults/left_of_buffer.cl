// fault: out-of-bounds: the first element has a left neighbour.
//
// Differences of neighbours; the first element stays as it is.
kernel void differences(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = in[i] - in[i - 1];
}
